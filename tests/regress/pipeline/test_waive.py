"""What waivers do to findings, and what they never do."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress.errors import ExitCode
from regress.gate import cell_verdicts, gate
from regress.model.finding import Finding, Measured, Metric, Ratio, RoundIds, Series
from regress.model.reason import REASONS, Reason, ReasonCode
from regress.model.verdict import EXIT_CODES, Verdict
from regress.model.waiver import WAIVABLE, WAIVER_STATES, Waiver, WaiverState, WaiverUse
from regress.pipeline.waive import Comparison, waive
from regress.store.stacks import PublishedStack
from tests.regress.builders import CASE, OTHER, WORKLOAD
from workloads.record import Case

TODAY = date(2026, 3, 1)
MAIN = frozenset({"flashinfer-python", "fa3-fwd"})
PUBLISHED = tuple(
    PublishedStack(tag, line, libraries)
    for line, (tag, libraries) in enumerate(
        [
            ("v1", MAIN),
            ("fa3-1", frozenset({"fa3-fwd"})),
            ("v2", MAIN),
            ("v3", MAIN),
            ("fa3-2", frozenset({"fa3-fwd"})),
            ("v4", MAIN),
        ]
    )
)
CASES = (CASE, OTHER, *(Case(WORKLOAD, f"made-up-{n}") for n in range(6)))


def _finding(code: ReasonCode, case: Case = CASE, ratio: float = 1.5) -> Finding:
    figures = Measured(100.0, 100.0 * ratio, Ratio(ratio, None, None, 0.0), None, 0.01, 0.01, 0, 1)
    verdict = REASONS[code].verdict
    return Finding(
        *("made-up", "family", Series(case, Metric.KERNEL_TIME), verdict, Reason(code, "")),
        RoundIds((), ()),
        measured=figures if verdict is Verdict.REGRESSION else None,
    )


def _waiver(**fields: Any) -> Waiver:
    values = {"cells": "tc-auto$", "since": "v2", "reason": "r", "owner": "o", "expires": TODAY}
    return Waiver(**{**values, **fields})


def _comparison(**fields: Any) -> Comparison:
    values = {
        "base": "v1",
        "head": "v2",
        "today": TODAY,
        "judged": CASES,
        "scopes": (CASES,),
        "most_share": 0.25,
        "published": PUBLISHED,
    }
    return Comparison(**{**values, **fields})


def _waive(
    findings: Sequence[Finding], *waivers: Waiver, **fields: Any
) -> tuple[tuple[Finding, ...], tuple[WaiverUse, ...]]:
    return waive(findings, waivers, _comparison(**fields))


def _state(waiver: Waiver, *codes: ReasonCode, **fields: Any) -> WaiverState:
    _, (use,) = _waive([_finding(code) for code in codes], waiver, **fields)
    return use.state


SLOWER = ReasonCode.SLOWER


def test_an_accepted_regression_does_not_count_and_does_not_vanish() -> None:
    """The finding stays a REGRESSION, its cell is WAIVED and not SAME, and the run passes so."""
    (found,), (use,) = _waive([_finding(SLOWER)], _waiver())
    assert (found.verdict, found.gates, found.waived) == (Verdict.REGRESSION, False, 1)
    assert (use.state, use.waived) == (WaiverState.APPLIED, 1)
    cells = cell_verdicts([found])
    assert [cell.verdict for cell in cells] == [Verdict.WAIVED]
    assert gate(cells) == (Verdict.WAIVED, ExitCode.PASS)


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        (ReasonCode.MISSING, Verdict.NO_DATA),
        (ReasonCode.ERROR_MISSING, Verdict.UNDECIDED),
        (ReasonCode.ERROR_GREW, Verdict.BROKEN),
        (ReasonCode.EQUIVALENT, Verdict.WAIVED),
        (ReasonCode.APPEARED, Verdict.WAIVED),
    ],
)
def test_a_waived_finding_hides_nothing_else_of_its_cell(
    code: ReasonCode, verdict: Verdict
) -> None:
    """Worse or missing things that the same case has still count; good ones are no excuse."""
    found, _ = _waive([_finding(SLOWER), _finding(code)], _waiver())
    (cell,) = cell_verdicts(found)
    assert cell.verdict is verdict


def test_other_cells_still_count() -> None:
    """A waiver for one case leaves the exit code of another one."""
    found, _ = _waive([_finding(SLOWER), _finding(SLOWER, OTHER)], _waiver())
    assert gate(cell_verdicts(found)) == (Verdict.REGRESSION, ExitCode.REGRESSION)


@pytest.mark.parametrize("code", [ReasonCode.ERROR_GREW, ReasonCode.FAILED])
def test_wrong_and_lost_cases_are_waived_only_by_name(code: ReasonCode) -> None:
    """Whoever accepts a slow case has not accepted a wrong or a lost one."""
    (found,), (use,) = _waive([_finding(code)], _waiver())
    verdict = REASONS[code].verdict
    assert (found.gates, use.state) == (True, WaiverState.UNMATCHED)
    assert use.note == f"fits only {verdict}, which it does not name"
    assert _state(_waiver(verdicts=(verdict,)), code) is WaiverState.APPLIED


@pytest.mark.parametrize(
    "code", [code for code, known in REASONS.items() if known.verdict not in WAIVABLE]
)
def test_what_was_not_shown_worse_is_never_taken(code: ReasonCode) -> None:
    """Even a waiver that names the verdict, which no file may, leaves the finding as it is."""
    finding = _finding(code)
    (found,), _ = _waive([finding], _waiver(verdicts=tuple(Verdict)))
    assert found == finding


def test_a_further_slow_down_counts() -> None:
    """Above `up_to` nothing is waived, and the waiver says by how much; at it, it is."""
    findings = [_finding(SLOWER, ratio=1.2), _finding(SLOWER, ratio=1.6)]
    found, (use,) = _waive(findings, _waiver(up_to=1.2))
    assert [f.gates for f in found] == [False, True]
    assert (use.state, use.waived) == (WaiverState.EXCEEDED, 1)
    assert use.note == "1 finding above up_to 1.2, 1.600x at most: not waived"


def test_the_last_day_still_holds() -> None:
    """`expires` is the last day; on the next one the waiver is a finding and nothing else."""
    day = timedelta(days=1)
    assert _state(_waiver(), SLOWER) is WaiverState.APPLIED
    assert _state(_waiver(), SLOWER, today=TODAY + day) is WaiverState.EXPIRED


@pytest.mark.parametrize("pattern", ["", ".*", "^", "$", "x*", "@", "decode", "made-up"])
def test_a_pattern_that_fits_too_much_is_not_applied(pattern: str) -> None:
    """Whatever fits everything, or more than the share that is allowed, waives nothing."""
    (found,), (use,) = _waive([_finding(SLOWER)], _waiver(cells=pattern))
    assert found.gates
    assert use.state is WaiverState.TOO_BROAD


@pytest.mark.parametrize("pattern", ["", ".*", "^", "x*"])
def test_what_fits_anything_is_too_broad_for_one_case_too(pattern: str) -> None:
    """A pattern that says nothing waives nothing, even where it fits one case only."""
    fields = {"judged": (CASE,), "scopes": ((CASE,),)}
    assert _state(_waiver(cells=pattern), SLOWER, **fields) is WaiverState.TOO_BROAD


def test_one_case_is_never_too_broad() -> None:
    """Where only two cases are compared, a waiver for one of them is still narrow."""
    fields = {"judged": (CASE, OTHER), "scopes": ((CASE, OTHER),)}
    assert _state(_waiver(), SLOWER, **fields) is WaiverState.APPLIED


@pytest.mark.parametrize(
    ("since", "until", "base", "head", "state"),
    [
        ("v2", None, "v1", "v2", "applied"),
        ("v2", None, "v1", "v4", "applied"),
        ("v2", "v4", "v1", "v3", "applied"),
        ("v2", "v4", "v1", "v4", "elsewhere"),  # good again: slower is news
        ("v2", None, "v2", "v3", "elsewhere"),  # both have it: slower still is news
        ("v3", None, "v1", "v2", "elsewhere"),
        ("v2", None, "v3", "v1", "elsewhere"),
        ("fa3-2", None, "v1", "v4", "elsewhere"),  # another line of stacks
        ("fa3-2", None, "fa3-1", "fa3-2", "applied"),
        ("v2", "fa3-2", "v1", "v2", "elsewhere"),
        ("mine", None, "v1", "mine", "applied"),
        ("mine", None, "v1", "v4", "elsewhere"),
        ("v2", None, "v1", "mine", "elsewhere"),
        ("v2", None, "mine", "v2", "elsewhere"),
        ("mine", None, "other", "mine", "applied"),
        ("v2", "mine", "v1", "v2", "elsewhere"),
        ("v9", None, "v1", "v2", "unknown-stack"),
        ("v2", "v9", "v1", "v2", "unknown-stack"),
    ],
)
def test_the_way_from_base_to_head_must_cross_the_change(
    since: str, until: str | None, base: str, head: str, state: str
) -> None:
    """Base is before the change, head has it and is not yet good again; ad-hoc goes by name."""
    waiver = _waiver(since=since, until=until)
    assert _state(waiver, SLOWER, base=base, head=head, tags=("mine", "other")) == state


def test_a_waiver_without_anything_to_waive_is_told() -> None:
    """Cells that are good again, and patterns that fit no case at all, are to be tidied up."""
    assert _state(_waiver(), ReasonCode.EQUIVALENT) is WaiverState.UNMATCHED
    assert _state(_waiver(cells="tpyo"), SLOWER) is WaiverState.UNMATCHED


def test_a_waiver_for_cells_that_are_not_judged_is_left_alone() -> None:
    """With --cells or a smaller tier, waivers of the other cells are nobody's fault."""
    assert _state(_waiver(), judged=(OTHER,)) is WaiverState.ELSEWHERE


def test_two_waivers_may_fit_one_finding() -> None:
    """The first one is named by the finding, and neither is unmatched."""
    (found,), uses = _waive([_finding(SLOWER)], _waiver(), _waiver(owner="other"))
    assert found.waived == 1
    assert [use.state for use in uses] == [WaiverState.APPLIED] * 2


def test_what_does_not_count_is_not_waived() -> None:
    """A finding that is information stays information, and makes no waiver look used."""
    shown = _finding(SLOWER)
    information = Finding(
        *(shown.detector, shown.family, shown.series, shown.verdict, shown.reason, shown.rounds),
        gates=False,
    )
    (found,), (use,) = _waive([information], _waiver())
    assert (found, use.state) == (information, WaiverState.UNMATCHED)


def test_every_state_is_explained() -> None:
    """The explained states are exactly the states."""
    assert set(WAIVER_STATES) == set(WaiverState)


codes = st.sampled_from(ReasonCode)
findings_of = st.lists(
    st.builds(_finding, codes, st.sampled_from(CASES[:3]), st.floats(1.01, 3.0)), max_size=6
)
waivers_of = st.lists(
    st.builds(
        _waiver,
        cells=st.sampled_from(["tc-auto$", "tc-fa2$", "tc-", "made-up-0", "nothing", ".*"]),
        since=st.sampled_from(["v2", "v3", "v9"]),
        expires=st.sampled_from([TODAY, TODAY - timedelta(days=1)]),
        verdicts=st.sets(st.sampled_from(Verdict), min_size=1).map(tuple),
        up_to=st.sampled_from([None, 1.5]),
    ),
    max_size=4,
)


def _code(findings: Sequence[Finding]) -> ExitCode:
    return gate(cell_verdicts(findings))[1]


@given(findings_of, waivers_of)
def test_a_waiver_changes_the_exit_code_only_by_waiving(
    findings: list[Finding], waivers: list[Waiver]
) -> None:
    """If nothing is waived all is as it was, and what is waived was red and counted."""
    found, uses = _waive(findings, *waivers)
    changed = [(old, new) for old, new in zip(findings, found, strict=True) if old != new]
    for old, new in changed:
        assert old.gates
        assert old.verdict in WAIVABLE
        assert uses[(new.waived or 0) - 1].waived
    if _code(found) is not _code(findings):
        assert changed
        assert _code(findings) is ExitCode.REGRESSION


@given(findings_of, waivers_of)
def test_an_expired_waiver_changes_nothing(findings: list[Finding], waivers: list[Waiver]) -> None:
    """After the last day the findings are those of a run without the waivers."""
    found, uses = _waive(findings, *waivers, today=TODAY + timedelta(days=1))
    assert list(found) == findings
    assert {use.state for use in uses} <= {WaiverState.EXPIRED}


@given(findings_of, waivers_of)
def test_missing_and_undecided_data_is_never_waived(
    findings: list[Finding], waivers: list[Waiver]
) -> None:
    """Exit codes 3 and 4 stay, and no run with such a cell passes."""
    found, _ = _waive(findings, *waivers)
    if _code(findings) in {ExitCode.NO_DATA, ExitCode.UNDECIDED}:
        assert _code(found) is _code(findings)
    missing = {ExitCode.NO_DATA, ExitCode.UNDECIDED}
    if any(EXIT_CODES[f.verdict] in missing for f in findings):
        assert _code(found) is not ExitCode.PASS


@given(findings_of, waivers_of)
def test_waiving_judges_as_many_cells_as_before(
    findings: list[Finding], waivers: list[Waiver]
) -> None:
    """No cell vanishes, and none becomes better than WAIVED that was worse."""
    before = {cell.case: cell.verdict for cell in cell_verdicts(findings)}
    after = {cell.case: cell.verdict for cell in cell_verdicts(_waive(findings, *waivers)[0])}
    assert before.keys() == after.keys()
    good = (Verdict.SAME, Verdict.NEW, Verdict.IMPROVEMENT)
    assert all(before[case] in good for case, verdict in after.items() if verdict in good)
