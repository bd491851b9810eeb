"""`thresholds` over round files: recorded ones, and synthetic ground truth."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from regress.errors import ExitCode, NoDataError, UsageError
from regress.model.thresholds import AxisNumbers, Bracket, StackPair, ThresholdsReport
from regress.model.verdict import Verdict
from regress.pipeline.request import ANY_TIER, Request
from regress.pipeline.thresholds.thresholds import thresholds
from regress.store.tree import RECORDED
from tests.regress.builders import CONFIG, lost, make_round, measured, write_rounds
from workloads.record import Case, CaseRecord, Design, Facts, Round

SHAPE = "decode-h32x4-d128-bf16-p16"
BACKENDS = ("flashinfer-decode-tc-fa2", "flashinfer-decode-cuda", "fa3-varlen")


def report_of(
    base: str | None, head: str, root: Path, pattern: str | None = None
) -> ThresholdsReport:
    request = Request((root,), None, ANY_TIER, pattern, "cmd")
    return thresholds(StackPair(base, head), request, CONFIG)


def axis_of(report: ThresholdsReport, backend: str, distribution: str) -> AxisNumbers:
    (found,) = (
        a
        for a in report.axes
        if (a.axis.shape, a.axis.backend, a.axis.distribution) == (SHAPE, backend, distribution)
    )
    return found


@pytest.fixture(scope="module")
def recorded() -> ThresholdsReport:
    return report_of("v0.5.3", "v0.6.4", RECORDED)


@pytest.mark.parametrize(("backend", "first"), [*zip(BACKENDS, (66, 297, 993), strict=True)])
def test_recorded_thresholds(recorded: ThresholdsReport, backend: str, first: int) -> None:
    """On the H200: 66 on tensor cores, 297 on CUDA cores, 993 in FA3, by all three sources."""
    found = axis_of(recorded, backend, "skew40")
    for side in (found.base, found.head):
        assert side is not None
        assert side.planned == side.measured == side.predicted == Bracket(first - 1, first)


def test_recorded_thresholds_did_not_move(recorded: ThresholdsReport) -> None:
    """Nothing got worse from 0.5.3 to 0.6.4; what single rounds leave open is undecided."""
    verdicts = {f.verdict for f in recorded.findings}
    assert verdicts == {Verdict.SAME, Verdict.UNDECIDED, Verdict.NEW}
    assert (recorded.verdict, recorded.exit_code) == (Verdict.UNDECIDED, ExitCode.UNDECIDED)
    assert not [
        f
        for f in recorded.findings
        if f.detector in {"measured", "predicted"} and f.verdict is not Verdict.SAME
    ]


def test_one_recorded_stack_agrees_with_itself() -> None:
    """Plans, times and models of 0.6.1 agree on every line."""
    report = report_of(None, "v0.6.1", RECORDED)
    assert (report.verdict, report.exit_code) == (Verdict.SAME, ExitCode.PASS)


def rounds_of(
    tag: str, threshold: int, batches: Iterable[int], *, facts: bool = True
) -> list[Round]:
    """Six rounds of one backend whose planner stops at a threshold."""

    def record(batch: int, distribution: str, us: float) -> CaseRecord:
        case = Case(f"{SHAPE}-b{batch}-{distribution}-t262144", BACKENDS[0])
        told = Facts(max_splits=1 + (batch < threshold)) if facts else None
        return measured(case, us, facts=told)

    records = [
        record(batch, distribution, us)
        for batch in batches
        for distribution, us in (
            ("uniform", 100.0),
            ("skew40", 110.0 if batch < threshold else 1000.0),
        )
    ]
    return [make_round(tag, number, records) for number in range(6)]


def test_a_shift_of_one_batch_size_is_a_regression(tmp_path: Path) -> None:
    """Head stops splitting one batch size earlier: exit code 1."""
    batches = (8, 64, 65, 66, 67, 256)
    write_rounds(tmp_path, rounds_of("vbase", 66, batches) + rounds_of("vhead", 65, batches))
    report = report_of("vbase", "vhead", tmp_path)
    assert (report.verdict, report.exit_code) == (Verdict.REGRESSION, ExitCode.REGRESSION)
    assert "at 66 in base, at 65 in head" in report.findings[0].reason.message


def test_a_shift_of_ten_percent_is_found_without_facts(tmp_path: Path) -> None:
    """From times alone, on a grid of 5 % steps."""
    batches = [round(200 * 1.05**n) for n in range(16)]
    base = rounds_of("vbase", 300, batches, facts=False)
    write_rounds(tmp_path, base + rounds_of("vhead", 270, batches, facts=False))
    assert report_of("vbase", "vhead", tmp_path).exit_code is ExitCode.REGRESSION
    assert report_of("vhead", "vbase", tmp_path).verdict is Verdict.IMPROVEMENT


def test_a_line_that_head_lacks_is_no_data(tmp_path: Path) -> None:
    """What was not measured is never a pass."""
    other = make_round(
        "vhead", 1, [measured(Case(f"{SHAPE}-b8-uniform-t262144", BACKENDS[0]), 1.0)]
    )
    write_rounds(tmp_path, [*rounds_of("vbase", 66, (8, 65, 66, 67)), other])
    report = report_of("vbase", "vhead", tmp_path)
    assert (report.verdict, report.exit_code) == (Verdict.NO_DATA, ExitCode.NO_DATA)


def test_a_line_that_head_cannot_run_is_gone(tmp_path: Path) -> None:
    """Tried and refused is a regression."""
    base = rounds_of("vbase", 66, (8, 65, 66, 67))
    refused = make_round("vhead", 1, [lost(record.case) for record in base[0].cases])
    write_rounds(tmp_path, [*base, refused])
    report = report_of("vbase", "vhead", tmp_path)
    assert (report.verdict, report.exit_code) == (Verdict.GONE, ExitCode.REGRESSION)


def test_rounds_that_disagree_on_the_plan_widen_the_bracket(tmp_path: Path) -> None:
    """A batch that is planned in two ways tells nothing, and the report says so."""
    batches = (8, 65, 66, 67)
    mixed = rounds_of("vhead", 66, batches)
    mixed[0] = replace_id(rounds_of("vhead", 65, batches)[0], mixed[0].id)
    write_rounds(tmp_path, mixed)
    report = report_of(None, "vhead", tmp_path)
    (axis,) = report.axes
    assert axis.head is not None
    assert axis.head.planned == Bracket(8, 66)
    assert any("differently at batch 65" in line for line in report.warnings)


def replace_id(found: Round, round_id: str) -> Round:
    return make_round(found.stack.tag, 0, found.cases, id=round_id)


def test_times_that_ab_chose_are_left_aside(tmp_path: Path) -> None:
    """Rounds of suspects alone hold what looked odd."""
    batches = (8, 65, 66, 67)
    design = Design("run", "confirm", ("vbase", "vhead"), 1, 1)
    chosen = make_round("vhead", 9, rounds_of("vhead", 8, batches)[0].cases, design=design)
    write_rounds(tmp_path, [*rounds_of("vhead", 66, batches), chosen])
    (axis,) = report_of(None, "vhead", tmp_path).axes
    assert axis.head is not None
    assert axis.head.planned == Bracket(65, 66)


def test_without_a_line_there_is_no_data(tmp_path: Path) -> None:
    """One batch size is no line: one clear error instead of an empty report."""
    write_rounds(tmp_path, rounds_of("vhead", 66, (66,)))
    with pytest.raises(NoDataError, match="no wanted case of vhead lies on a line"):
        report_of(None, "vhead", tmp_path)


def test_one_stack_twice_is_a_usage_error() -> None:
    """Comparing a stack with itself says nothing."""
    with pytest.raises(UsageError, match=r"both v0\.6\.1"):
        report_of("v0.6.1", "v0.6.1", RECORDED)


def test_a_pattern_narrows_the_report() -> None:
    """Only lines of the wanted cases are shown."""
    report = report_of(None, "v0.6.1", RECORDED, "h32x4.*skew40.*fa3-varlen$")
    assert [a.axis.backend for a in report.axes] == ["fa3-varlen"]
