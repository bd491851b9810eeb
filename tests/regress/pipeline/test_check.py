"""From round files to a report and an exit code."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress.errors import ExitCode, NoDataError, RegressError, UsageError
from regress.gate import cell_verdicts, gate
from regress.model.reason import ReasonCode
from regress.model.report import CheckReport
from regress.model.verdict import Verdict
from regress.pipeline.check import check
from regress.pipeline.request import Request
from regress.report.json import render_json
from tests.regress.builders import (
    CASE,
    CONFIG,
    MACHINE,
    OTHER,
    lost,
    make_round,
    measured,
    rounds_of,
    write_rounds,
)
from workloads import catalog
from workloads.record import Design, Round, Status

QUIET = (100.0, 100.1, 99.9, 100.2, 99.8)
SLOW = tuple(v * 1.1 for v in QUIET)


def _check(root: Path, tier: str = "any", pattern: str | None = None) -> CheckReport:
    return check("v1", "v2", Request((root,), None, tier, pattern, "command"), CONFIG)


def _pair(root: Path, base: Sequence[Round], head: Sequence[Round]) -> CheckReport:
    write_rounds(root, [*base, *head])
    return _check(root)


def test_same_stacks_pass(tmp_path: Path) -> None:
    """Equal times on both sides are SAME and exit 0."""
    report = _pair(tmp_path, rounds_of("v1", {CASE: QUIET}), rounds_of("v2", {CASE: QUIET}))
    assert (report.verdict, report.exit_code) == (Verdict.SAME, ExitCode.PASS)


def test_a_regression_fails(tmp_path: Path) -> None:
    """Ten percent slower is REGRESSION, exit 1, traceable to the rounds of both sides."""
    base, head = rounds_of("v1", {CASE: QUIET}), rounds_of("v2", {CASE: SLOW})
    report = _pair(tmp_path, base, head)
    (finding,) = report.findings
    assert (report.verdict, report.exit_code) == (Verdict.REGRESSION, ExitCode.REGRESSION)
    assert finding.rounds.base == tuple(r.id for r in base)
    assert finding.rounds.head == tuple(r.id for r in head)


def test_a_case_that_base_lost_where_it_is_compared_is_no_pass(tmp_path: Path) -> None:
    """Base has times in another campaign only: head may be slower, and nobody can tell."""
    base = [make_round("v1", n, [lost(CASE), measured(OTHER, t)]) for n, t in enumerate(QUIET)]
    base += rounds_of("v1", {CASE: QUIET[:2], OTHER: QUIET[:2]}, "c2")
    head = [*rounds_of("v2", {CASE: SLOW, OTHER: QUIET}), *rounds_of("v2", {CASE: SLOW[:2]}, "c2")]
    report = _pair(tmp_path, base, head)
    (finding,) = (f for f in report.findings if f.reason.code is ReasonCode.TOO_FEW_ROUNDS)
    assert (finding.series.case, finding.verdict) == (CASE, Verdict.UNDECIDED)
    assert "boom" in finding.reason.message
    assert {cell.case for cell in report.cells} == {CASE, OTHER}
    assert report.exit_code is not ExitCode.PASS


def test_a_fast_wrong_kernel_is_broken(tmp_path: Path) -> None:
    """A cell that got faster and wrong is BROKEN as a cell."""
    head = [make_round("v2", n, [measured(CASE, t / 2, error=0.9)]) for n, t in enumerate(QUIET)]
    report = _pair(tmp_path, rounds_of("v1", {CASE: QUIET}), head)
    assert [f.verdict for f in report.findings] == [Verdict.BROKEN, Verdict.IMPROVEMENT]
    assert [cell.verdict for cell in report.cells] == [Verdict.BROKEN]
    assert report.exit_code is ExitCode.REGRESSION


def test_copies_of_a_round_add_no_confidence(tmp_path: Path) -> None:
    """One round copied into five files is one round."""
    base, head = rounds_of("v1", {CASE: QUIET}), rounds_of("v2", {CASE: SLOW[:1]})
    (path,) = write_rounds(tmp_path, head)
    for number in range(4):
        path.with_name(f"copy{number}.json.gz").write_bytes(path.read_bytes())
    report = _pair(tmp_path, base, ())
    assert report.verdict is Verdict.UNDECIDED
    assert len(report.rounds.head) == 1


def test_cases_nobody_could_measure_are_listed(tmp_path: Path) -> None:
    """They are no findings, but named with both reasons; a run of only such cases is no pass."""
    skipped = lost(OTHER, Status.SKIPPED, "not installed")
    sides = [[make_round(tag, n, [skipped]) for n in range(5)] for tag in ("v1", "v2")]
    report = _pair(tmp_path, *sides)
    assert [u.base for u in report.unmeasured] == ["skipped: not installed"]
    assert (report.findings, report.exit_code) == ((), ExitCode.NO_DATA)


def test_a_tier_case_that_was_never_planned_is_no_data(tmp_path: Path) -> None:
    """Every case of the tier has a verdict or is listed; unplanned ones make it exit 4."""
    entries = catalog.cases("gate")
    times = {entry.case: QUIET for entry in entries[1:]}
    report = check(
        *("v1", "v2"),
        _request(tmp_path, rounds_of("v1", times), rounds_of("v2", times)),
        CONFIG,
    )
    assert [f.series.case for f in report.findings if f.verdict is Verdict.NO_DATA] == [
        entries[0].case
    ]
    assert report.exit_code is ExitCode.NO_DATA
    assert {cell.case for cell in report.cells} == {entry.case for entry in entries}


def _request(root: Path, *sides: Sequence[Round]) -> Request:
    write_rounds(root, [r for side in sides for r in side])
    return Request((root,), None, "gate", None, "command")


def test_cells_narrow_what_is_judged(tmp_path: Path) -> None:
    """A pattern takes the matching cases only; one that fits nothing is a usage error."""
    both = {CASE: QUIET, OTHER: SLOW}
    write_rounds(tmp_path, [*rounds_of("v1", {CASE: QUIET, OTHER: QUIET}), *rounds_of("v2", both)])
    assert _check(tmp_path).exit_code is ExitCode.REGRESSION
    assert _check(tmp_path, pattern="tc-auto$").exit_code is ExitCode.PASS
    with pytest.raises(UsageError, match="no case of tier any fits --cells 'nothing'"):
        _check(tmp_path, pattern="nothing")
    with pytest.raises(UsageError, match="is no regular expression"):
        _check(tmp_path, pattern="(")


def test_one_stack_twice_is_usage(tmp_path: Path) -> None:
    """A stack is not compared with itself."""
    with pytest.raises(UsageError, match="name two stacks"):
        check("v1", "v1", Request((tmp_path,), None, "any", None, ""), CONFIG)


def test_a_missing_stack_is_no_data(tmp_path: Path) -> None:
    """A published stack without rounds is no data, whatever the other one has."""
    with pytest.raises(NoDataError, match=r"v0\.6\.1 has no rounds"):
        check("v0.6.1", "v0.6.0", Request((tmp_path,), None, "any", None, ""), CONFIG)


def test_what_was_left_aside_is_told(tmp_path: Path) -> None:
    """Rounds of another set-up, block comparisons and quality warnings are warnings."""
    other = msgspec.structs.replace(MACHINE, driver="570.1")
    base = [*rounds_of("v1", {CASE: QUIET}, "c1")]
    base.append(make_round("v1", 9, [measured(CASE, 1.0)], machine=other))
    head = [
        msgspec.structs.replace(r, warnings=("power-capped",))
        for r in rounds_of("v2", {CASE: QUIET}, "c2")
    ]
    warnings = "\n".join(_pair(tmp_path, base, head).warnings)
    assert "1 round of v1 with another set-up" in warnings
    assert "compared across campaigns" in warnings
    assert "v2: power-capped in 5 of 5 rounds" in warnings


def test_warnings_of_cases_are_summed_up(tmp_path: Path) -> None:
    """One line a code and side counts the cells, and with them the rounds that have it."""
    throttled = [measured(CASE, t, warnings=("throttled",)) for t in QUIET]
    head = [make_round("v2", n, [r, measured(OTHER, 100.0)]) for n, r in enumerate(throttled)]
    head[0] = msgspec.structs.replace(head[0], warnings=("throttled",))
    report = _pair(tmp_path, rounds_of("v1", {CASE: QUIET, OTHER: QUIET}), head)
    assert report.exit_code is ExitCode.PASS
    assert report.warnings == ("v2: throttled in 1 of 5 rounds and at some moment in 1 of 2 cells",)


def test_unchecked_results_are_told(tmp_path: Path) -> None:
    """Cells without any error on either side are counted; one error anywhere is a check."""
    sides = [
        [
            make_round(tag, n, [measured(CASE, t, error=None), measured(OTHER, t)])
            for n, t in enumerate(QUIET)
        ]
        for tag in ("v1", "v2")
    ]
    report = _pair(tmp_path, *sides)
    assert report.exit_code is ExitCode.PASS
    assert any("correctness not checked in 1 cell:" in line for line in report.warnings)


def test_a_tier_that_one_side_lacks_is_told(tmp_path: Path) -> None:
    """If nightly rounds of one stack are passed over for the other's gate rounds, that is said."""
    times = {entry.case: QUIET for entry in catalog.cases("gate")}
    base, head = (
        [msgspec.structs.replace(r, tier="gate") for r in rounds_of(tag, times)]
        for tag in ("v1", "v2")
    )
    nightly = make_round("v1", 9, [measured(e.case, 100.0) for e in catalog.cases("nightly")])
    write_rounds(tmp_path, [*base, nightly, *head])
    report = _check(tmp_path, tier="auto")
    assert (report.tier, report.exit_code) == ("gate", ExitCode.PASS)
    told = "1 round of v1 of tier nightly, the other stack has none: only tier gate is judged"
    assert told in report.warnings
    assert told not in _check(tmp_path, tier="gate").warnings


def test_a_smaller_campaign_that_shows_a_regression_is_told(tmp_path: Path) -> None:
    """The campaign with the most rounds is judged; what another one shows alone is a warning."""
    five = [*rounds_of("v1", {CASE: QUIET}, "c2"), *rounds_of("v2", {CASE: SLOW}, "c2")]
    six = [r for tag in ("v1", "v2") for r in rounds_of(tag, {CASE: (*QUIET, 100.0)}, "c1")]
    report = _pair(tmp_path, five, six)
    assert report.verdict is Verdict.SAME
    assert [line for line in report.warnings if line.startswith("campaign c2, left aside")] == [
        "campaign c2, left aside, shows 1 REGRESSION: look at these rounds alone with --rounds"
    ]


def test_another_setup_that_shows_a_regression_is_told(tmp_path: Path) -> None:
    """The set-up with the most rounds is judged; the other one is named by what differs."""
    old = msgspec.structs.replace(MACHINE, driver="570.1")
    five = [
        msgspec.structs.replace(r, machine=old)
        for tag, times in (("v1", QUIET), ("v2", SLOW))
        for r in rounds_of(tag, {CASE: times}, "c2")
    ]
    six = [r for tag in ("v1", "v2") for r in rounds_of(tag, {CASE: (*QUIET, 100.0)}, "c1")]
    (line,) = [w for w in _pair(tmp_path, five, six).warnings if "left aside" in w]
    assert line.startswith("the set-up with driver branch 570, left aside, shows 1 REGRESSION")


def test_what_the_check_says_itself_is_not_told_again(tmp_path: Path) -> None:
    """A smaller campaign that agrees, or is too small to judge, needs no warning."""
    rounds = [r for c in ("c1", "c2") for r in rounds_of("v1", {CASE: QUIET}, c)]
    rounds += [r for c in ("c1", "c2") for r in rounds_of("v2", {CASE: SLOW}, c)]
    rounds += [*rounds_of("v1", {CASE: QUIET[:1]}, "c3"), *rounds_of("v2", {CASE: SLOW[:1]}, "c3")]
    report = _pair(tmp_path, rounds, ())
    assert report.verdict is Verdict.REGRESSION
    assert not [w for w in report.warnings if "left aside" in w]


def test_json_round_trips(tmp_path: Path) -> None:
    """The report reads back from its JSON as it was, strictly."""
    report = _pair(tmp_path, rounds_of("v1", {CASE: QUIET}), rounds_of("v2", {CASE: SLOW[:2]}))
    assert msgspec.json.decode(render_json(report), type=CheckReport) == report


def test_findings_that_do_not_gate_do_not_count(tmp_path: Path) -> None:
    """A plan() time that doubled is shown and leaves the exit code alone."""

    def side(tag: str, plan_us: float) -> list[Round]:
        records = [measured(CASE, t, plan_us=(plan_us + n,)) for n, t in enumerate(QUIET)]
        return [make_round(tag, n, [record]) for n, record in enumerate(records)]

    report = _pair(tmp_path, side("v1", 50), side("v2", 200))
    assert {f.verdict for f in report.findings} == {Verdict.SAME, Verdict.REGRESSION}
    assert report.exit_code is ExitCode.PASS


def test_nothing_judged_is_no_pass() -> None:
    """The gate does not pass an empty run."""
    assert gate(cell_verdicts([])) == (Verdict.NO_DATA, ExitCode.NO_DATA)


def _cut(r: Round) -> Round:
    return msgspec.structs.replace(r, cases=tuple(c for c in r.cases if c.case != CASE))


def test_a_case_cut_out_of_the_round_that_lost_it_is_no_pass(tmp_path: Path) -> None:
    """Without the one failed record the rest would be SAME; the round must hold the case."""
    base = rounds_of("v1", {CASE: QUIET, OTHER: QUIET})
    head = list(rounds_of("v2", {CASE: QUIET, OTHER: QUIET}))
    head.append(make_round("v2", 9, [lost(CASE), measured(OTHER, 100.0)]))
    assert _pair(tmp_path / "all", base, head).exit_code is ExitCode.REGRESSION
    report = _pair(tmp_path / "cut", base, [*head[:-1], _cut(head[-1])])
    assert report.exit_code is ExitCode.NO_DATA
    assert report.findings[0].reason.message == "missing from 1 round of head (v2-c1-9)"


def test_a_case_cut_out_of_base_where_it_was_measured_is_no_pass(tmp_path: Path) -> None:
    """What is left of base never ran, so that head would be NEW."""
    base = list(rounds_of("v1", {CASE: QUIET, OTHER: QUIET}))
    base.append(make_round("v1", 9, [lost(CASE), measured(OTHER, 100.0)]))
    head = rounds_of("v2", {CASE: SLOW, OTHER: QUIET})
    assert _pair(tmp_path / "all", base, head).exit_code is ExitCode.REGRESSION
    report = _pair(tmp_path / "cut", [*map(_cut, base[:-1]), base[-1]], head)
    assert {f.reason.code for f in report.findings} >= {"appeared", "missing-from-round"}
    assert report.exit_code is ExitCode.NO_DATA


def _remove(r: Round, what: str) -> Round | None:
    record = r.cases[0]
    match what:
        case "round":
            return None
        case "case":
            return msgspec.structs.replace(r, cases=r.cases[1:])
        case "time":
            return msgspec.structs.replace(r, cases=(lost(record.case), *r.cases[1:]))
        case _:
            unchecked = msgspec.structs.replace(record, error=None)
            return msgspec.structs.replace(r, cases=(unchecked, *r.cases[1:]))


removal = st.tuples(st.integers(0, 14), st.sampled_from(["round", "case", "time", "error"]))


@given(removals=st.lists(removal, min_size=1, max_size=6), red=st.sampled_from(["slow", "wrong"]))
def test_removing_data_never_turns_red_into_green(
    tmp_path_factory: pytest.TempPathFactory, removals: list[tuple[int, str]], red: str
) -> None:
    """From a failing gate of 5 v 5 rounds any rounds, cases, times or errors may vanish."""
    error = 0.9 if red == "wrong" else 1e-3
    factor = 1.1 if red == "slow" else 1.0
    noisy = (100.0, 120.0, 90.0, 130.0, 80.0)
    rounds: list[Any] = [*rounds_of("v1", {CASE: QUIET, OTHER: QUIET})]
    for n, t in enumerate(QUIET):
        records = [measured(CASE, t * factor, error=error), measured(OTHER, t)]
        rounds.append(make_round("v2", n, records))
    rounds += rounds_of("v3", {CASE: noisy, OTHER: noisy})
    for number, what in removals:
        if rounds[number] is not None and rounds[number].cases[0].case == CASE:
            rounds[number] = _remove(rounds[number], what)
    root = tmp_path_factory.mktemp("rounds")
    write_rounds(root, [r for r in rounds if r is not None])
    try:
        # The tier is what keeps a case in sight when every trace of it is gone.
        code = _check(root, tier="gate", pattern=f"^{CASE}$").exit_code
    except RegressError:
        return
    assert code is not ExitCode.PASS


def test_a_planned_round_that_vanished_is_no_pass(tmp_path: Path) -> None:
    """Every round tells how many were planned, so a check of the rest is NO_DATA."""

    def side(tag: str) -> list[Round]:
        designs = (Design("run", "rounds", ("v1", "v2"), n, 5) for n in range(1, 6))
        rounds = zip(rounds_of(tag, {CASE: QUIET}), designs, strict=True)
        return [msgspec.structs.replace(r, design=design) for r, design in rounds]

    assert _pair(tmp_path / "whole", side("v1"), side("v2")).exit_code is ExitCode.PASS
    left = _pair(tmp_path / "left", side("v1"), side("v2")[1:])
    assert left.exit_code is ExitCode.NO_DATA


def test_rounds_that_ab_chose_are_not_compared(tmp_path: Path) -> None:
    """What was measured again because it looked odd would make it look odder."""
    again = [
        msgspec.structs.replace(r, design=Design("ab", "confirm", ("v1", "v2"), n, 5))
        for n, r in enumerate(rounds_of("v2", {CASE: SLOW}, "c2"), 1)
    ]
    base, head = rounds_of("v1", {CASE: QUIET}), rounds_of("v2", {CASE: QUIET})
    report = _pair(tmp_path, base, [*head, *again])
    assert report.exit_code is ExitCode.PASS
    assert any("looked again" in warning for warning in report.warnings)


def test_rounds_of_a_bisection_are_no_side(tmp_path: Path) -> None:
    """They hold a few batch sizes: alone they are NO_DATA, beside others they are named."""
    bisected = [
        msgspec.structs.replace(r, design=Design("b", "bisect-1", ("v2",), 1, 1))
        for r in rounds_of("v2", {CASE: SLOW}, "c2")
    ]
    base, head = rounds_of("v1", {CASE: QUIET}), rounds_of("v2", {CASE: QUIET})
    with pytest.raises(NoDataError, match="`thresholds` bisected"):
        _pair(tmp_path / "alone", base, bisected)
    report = _pair(tmp_path / "both", base, [*head, *bisected])
    assert report.exit_code is ExitCode.PASS
    told = f"{len(bisected)} rounds in which `thresholds` bisected: not compared here"
    assert told in report.warnings
    assert not any("`ab`" in warning for warning in report.warnings)
