"""From round files of many releases to findings, causes and an exit code."""

import gzip
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from regress.errors import ExitCode, NoDataError, UsageError
from regress.model.history import History, HistoryFinding, Kind
from regress.model.reason import ReasonCode
from regress.model.verdict import Verdict
from tests.regress.builders import CONFIG
from tests.regress.pipeline.history.year import CASES, TAGS, Year, history_of, look, step_at
from workloads.record import Case, Facts, Status
from workloads.unrunnable import UNRUNNABLE_FILE, Unrunnable

SLOWER = step_at(8, 1.05, CASES[:3])


def _only(report: History) -> HistoryFinding:
    (finding,) = report.findings
    return finding


def test_a_quiet_year(tmp_path: Path) -> None:
    """Where nothing changes nothing is found, and the newest release passes."""
    report = history_of(Year(tmp_path))
    assert (report.findings, report.steps, report.drifts) == ((), (), ())
    assert (report.verdict, report.exit_code) == (Verdict.SAME, ExitCode.PASS)


def test_a_step_is_dated(tmp_path: Path) -> None:
    """Last good and first bad release, the cases, their size and the error rate are told."""
    report = history_of(Year(tmp_path, SLOWER))
    finding = _only(report)
    assert (finding.last_good, finding.first_bad) == (TAGS[7], TAGS[8])
    assert (finding.kind, finding.verdict, finding.standing) == (
        Kind.STEP,
        Verdict.REGRESSION,
        True,
    )
    assert set(finding.cases) == set(CASES[:3])
    assert finding.size == pytest.approx(1.05, abs=0.003)
    assert all(step.p_adjusted <= CONFIG.history.family_alpha for step in report.steps)
    assert report.exit_code is ExitCode.REGRESSION
    assert {r.stack: r.slower_than_best for r in report.releases}[TAGS[8]] == 3


def test_a_recovered_regression_stays_in_the_record(tmp_path: Path) -> None:
    """It is told with begin, end and depth, and no longer fails."""

    def factor(_case: Case, point: int) -> float:
        return 1.08 if 5 <= point < 11 else 1.0

    report = history_of(Year(tmp_path, factor))
    (first, *_) = report.recovered
    assert len(report.recovered) == len(CASES)
    assert (first.begin, first.end, first.releases) == (TAGS[5], TAGS[11], 6)
    assert first.depth == pytest.approx(1.08, abs=0.005)
    past = [f for f in report.findings if not f.standing]
    assert [(f.verdict, f.recovered_by) for f in past] == [(Verdict.REGRESSION, TAGS[11])]
    assert report.exit_code is ExitCode.PASS


def test_what_still_stands_is_told_apart(tmp_path: Path) -> None:
    """Of cases that got slower together, those that recovered do not count as still slower."""

    def factor(case: Case, point: int) -> float:
        slow = case in CASES[:3] and point >= 5 and (point < 11 or case == CASES[0])
        return 1.08 if slow else 1.0

    worse = [f for f in history_of(Year(tmp_path, factor)).findings if f.verdict == "REGRESSION"]
    assert [({*f.cases}, f.standing, f.recovered_by) for f in worse] == [
        ({*CASES[:1]}, True, None),
        ({*CASES[1:3]}, False, TAGS[11]),
    ]
    assert worse[1].id == f"{worse[0].id}-until-{TAGS[11]}"
    assert worse[0].newest is not None
    assert worse[0].newest.ratio.estimate == pytest.approx(1.08, abs=0.005)
    assert worse[1].newest is None


def test_the_newest_release_is_never_the_last_good_one(tmp_path: Path) -> None:
    """With few rounds since a step, what differs most is the step, not nothing."""
    many = {f"c{n}": (range(8), 3) for n in range(4)}
    year = Year(tmp_path, step_at(8, 1.2), campaigns={**many, "last": (range(9), 4)})
    (worse,) = [f for f in history_of(year).findings if f.verdict == "REGRESSION"]
    assert worse.newest is not None
    assert worse.newest.ratio.estimate == pytest.approx(1.2, abs=0.01)


def test_a_short_regression_after_a_gain_is_shown(tmp_path: Path) -> None:
    """A window that holds a step the other way still shows what follows it."""

    def factor(_case: Case, point: int) -> float:
        return 1.0 if point < 7 else 1.1 if point == 9 else 0.95

    report = history_of(Year(tmp_path, factor, campaigns={"c1": (range(len(TAGS)), 5)}))
    worse = [f for f in report.findings if f.verdict == "REGRESSION"]
    assert [(f.first_bad, f.recovered_by) for f in worse] == [(TAGS[9], TAGS[10])]


def test_slow_drift_is_found(tmp_path: Path) -> None:
    """Steps of a quarter percent each, far below the floor, are told once they sum up."""
    report = history_of(Year(tmp_path, lambda _case, point: 1.0025**point))
    assert not report.steps
    assert {drift.best for drift in report.drifts} == {TAGS[0]}
    assert _only(report).kind is Kind.DRIFT
    assert report.exit_code is ExitCode.REGRESSION


def test_an_improvement_passes(tmp_path: Path) -> None:
    """Faster is told, and no failure."""
    report = history_of(Year(tmp_path, step_at(8, 0.9)))
    assert _only(report).verdict is Verdict.IMPROVEMENT
    assert report.exit_code is ExitCode.PASS


def test_since_leaves_older_findings_out(tmp_path: Path) -> None:
    """With --since only what begins later counts."""
    history_of(Year(tmp_path, SLOWER))
    assert look(tmp_path, since=TAGS[7]).exit_code is ExitCode.REGRESSION
    later = look(tmp_path, since=TAGS[8])
    assert (later.findings, later.exit_code) == ((), ExitCode.PASS)


def test_unknown_since_is_refused(tmp_path: Path) -> None:
    """A release that the history does not have is named with those it has."""
    Year(tmp_path).write()
    with pytest.raises(UsageError, match=r"--since v9: the history has v0\.5\.0"):
        look(tmp_path, since="v9")


def test_one_cause_is_one_finding(tmp_path: Path) -> None:
    """Cases whose backend changed are told apart from cases whose device code did."""

    def told(case: Case, point: int) -> Facts:
        chosen = "fa3" if case == CASES[0] and point >= 8 else "fa2"
        return Facts(resolved_backend=chosen, cubin=f"code{point >= 8}")

    report = history_of(Year(tmp_path, SLOWER, told))
    by_size = {len(f.cases): f for f in report.findings}
    assert "the backend resolves to fa3, was fa2" in by_size[1].cause.summary
    assert "other device code" in by_size[2].cause.summary
    assert all(f.cause.explained for f in report.findings)
    assert [(c.case, c.before, c.after) for c in report.plan_changes] == [
        (CASES[0], TAGS[7], TAGS[8])
    ]


def test_files_that_differ_are_named(tmp_path: Path) -> None:
    """Between two releases the kept digests of their sources name files and functions."""
    finding = _only(history_of(Year(tmp_path, step_at(8, 1.05))))
    assert finding.first_bad == "v0.6.4"
    (decode,) = [f for f in finding.cause.files if f.path == "flashinfer/decode.py"]
    assert "BatchDecodeWithPagedKVCacheWrapper.plan" in decode.functions


def test_identical_kernels_are_no_finding(tmp_path: Path) -> None:
    """Times that step although the very same kernel ran are noise alarms of the control group."""
    report = history_of(Year(tmp_path, SLOWER, lambda _case, _point: Facts(cubin="same")))
    assert report.findings == ()
    assert report.controls.cells == len(CASES) * (len(TAGS) - 1)
    (pair,) = [pair for pair in report.controls.pairs if pair.alarms]
    assert (pair.base, pair.head, set(pair.alarms)) == (TAGS[7], TAGS[8], set(CASES[:3]))
    assert report.controls.alarms == 3
    assert report.controls.shown == 3
    series = next(s for s in report.series if s.series.case == CASES[0])
    assert series.points[8].code == ReasonCode.NOISE_ALARM


def test_a_real_change_is_no_step_of_the_controls(tmp_path: Path) -> None:
    """Noise beside another kernel's step, too small to show itself, is not taken for one."""

    def factor(_case: Case, point: int) -> float:
        return 1.5 if point < 8 else 1.0 if point == 8 else 0.98

    year = Year(
        tmp_path,
        factor,
        lambda _case, n: Facts(cubin=f"code{n >= 8}"),
        {"c1": (range(10), 5)},
    )
    report = history_of(year)
    assert report.controls.cells == len(CASES) * 8
    assert report.controls.shown == 0


def test_a_library_that_did_not_change(tmp_path: Path) -> None:
    """A case of another library, whose pin is the same in both stacks, is a control as well."""
    other = next(case for case in CASES if case.backend == "fa3-varlen")
    report = history_of(Year(tmp_path, step_at(8, 1.05), lambda _case, _point: Facts()))
    assert {case for f in report.findings for case in f.cases} == {*CASES} - {other}
    alarms = [pair.alarms for pair in report.controls.pairs if pair.head == TAGS[8]]
    assert alarms == [(other,)]


def test_a_control_group_without_alarms(tmp_path: Path) -> None:
    """Quiet controls are counted, with an upper bound of the rate."""
    report = history_of(Year(tmp_path, told=lambda _case, _point: Facts(cubin="same")))
    assert (report.controls.alarms, report.controls.shown) == (0, 0)
    assert 0 < (report.controls.upper_rate or 0) < 0.05


def test_the_reference_stands_beside_most_others(tmp_path: Path) -> None:
    """Being in many small campaigns joins nothing: two releases apart are compared through it."""
    halves = {"c1": (range(9), 5), "c2": (range(8, len(TAGS)), 5)}
    again = {f"again{n}": (range(2), 1) for n in range(4)}
    report = history_of(Year(tmp_path, campaigns={**halves, **again}))
    assert report.reference == TAGS[8]


def test_a_stack_that_could_not_be_measured_is_told(tmp_path: Path) -> None:
    """It is no release of the line, and not forgotten."""
    note = Unrunnable("v0.7.0", "", "synthetic", "does not import", "2026-01-01T00:00:00Z")
    folder = tmp_path / "synthetic" / note.tag
    folder.mkdir(parents=True)
    (folder / UNRUNNABLE_FILE).write_bytes(msgspec.json.encode(note))
    report = history_of(Year(tmp_path))
    assert note.tag not in {release.stack for release in report.releases}
    assert any("v0.7.0" in line and "does not import" in line for line in report.warnings)


def test_what_could_raise_no_alarm_is_no_control(tmp_path: Path) -> None:
    """Two releases that only the reference joins are never called changed: they do not count."""
    apart = {"c1": ((0, 1, 2, 8), 5), "c2": (range(3, len(TAGS)), 5)}
    year = Year(tmp_path, told=lambda _case, _point: Facts(cubin="same"), campaigns=apart)
    controls = history_of(year).controls
    assert (TAGS[2], TAGS[3]) not in {(pair.base, pair.head) for pair in controls.pairs}
    assert controls.cells == len(CASES) * (len(TAGS) - 2)


def test_a_lost_case_is_gone(tmp_path: Path) -> None:
    """A case that no longer runs is told with the reason, and fails."""

    def lost(case: Case, point: int) -> tuple[Status, str] | None:
        return (Status.FAILED, "does not compile") if case == CASES[0] and point >= 9 else None

    finding = _only(report := history_of(Year(tmp_path, lost=lost)))
    assert (finding.kind, finding.verdict, finding.cases) == (Kind.LOST, Verdict.GONE, CASES[:1])
    assert "does not compile" in finding.reason
    assert report.exit_code is ExitCode.REGRESSION


def test_a_case_that_comes_back(tmp_path: Path) -> None:
    """The loss is past then, and the return is told."""

    def lost(case: Case, point: int) -> tuple[Status, str] | None:
        return (Status.SKIPPED, "no path") if case == CASES[0] and 5 <= point < 9 else None

    report = history_of(Year(tmp_path, lost=lost))
    told = {f.kind: (f.first_bad, f.standing, f.recovered_by) for f in report.findings}
    assert told[Kind.LOST] == (TAGS[5], False, TAGS[9])
    assert told[Kind.APPEARED][0] == TAGS[9]
    assert report.exit_code is ExitCode.PASS


def test_campaigns_are_bridged_by_the_reference(tmp_path: Path) -> None:
    """Releases of two cards are compared through a stack that both measured, never directly."""
    # The second card is 20 % slower: compared directly, every later release would be a regression.
    halves = {"c1": (range(9), 4), "c2": ((4, *range(9, len(TAGS))), 4)}
    year = Year(tmp_path, campaigns=halves)
    slow = [
        replace(year, factor=lambda _c, _p: 1.2, campaigns={"c2": halves["c2"]}),
        replace(year, campaigns={"c1": halves["c1"]}),
    ]
    for part in slow:
        part.write()
    report = look(tmp_path)
    assert report.reference == TAGS[4]
    assert report.findings == ()
    series = report.series[0]
    assert [p.stack for p in series.points if p.bridged] == [TAGS[9]]
    assert series.points[9].ratio is not None
    assert series.points[9].ratio.estimate == pytest.approx(1.0, abs=0.005)


def test_a_step_across_campaigns(tmp_path: Path) -> None:
    """A large step between releases of two cards is shown through the reference."""
    halves = {"c1": (range(9), 8), "c2": ((0, *range(9, len(TAGS))), 8)}
    (finding,) = history_of(Year(tmp_path, step_at(9, 1.3), campaigns=halves)).findings
    assert (finding.last_good, finding.first_bad) == (TAGS[8], TAGS[9])


def test_a_damaged_file_is_left_out(tmp_path: Path) -> None:
    """It is named, the rest stands as if it were not there, and the exit code is 2."""
    paths = Year(tmp_path, SLOWER).write()
    damaged = paths[40]
    damaged.write_bytes(damaged.read_bytes()[:100])
    report = look(tmp_path)
    (told,) = report.damaged
    assert told.path == str(damaged)
    assert "truncated" in told.problem
    assert report.exit_code is ExitCode.USAGE
    assert report.verdict is Verdict.REGRESSION
    damaged.unlink()
    rest = look(tmp_path)
    assert (rest.findings, rest.series) == (report.findings, report.series)
    assert rest.exit_code is ExitCode.REGRESSION


def test_nothing_intact(tmp_path: Path) -> None:
    """Where every file is damaged the command ends with one line that names one."""
    for path in Year(tmp_path).write():
        path.write_bytes(gzip.compress(b"{}"))
    with pytest.raises(UsageError, match="no round file of synthetic is intact"):
        look(tmp_path)


def test_one_release_is_no_history(tmp_path: Path) -> None:
    """Two releases are needed, and no rounds at all are no pass."""
    with pytest.raises(NoDataError, match="no rounds at all"):
        look(tmp_path)
    Year(tmp_path, campaigns={"c1": ((3,), 5)}).write()
    with pytest.raises(NoDataError, match="two releases"):
        look(tmp_path)


def test_campaigns_apart_are_left_aside(tmp_path: Path) -> None:
    """A campaign that shares no stack with the others says nothing of them, and that is told."""
    apart = {"c1": (range(10), 3), "c2": (range(10, 12), 3)}
    report = history_of(Year(tmp_path, campaigns=apart))
    assert [r.stack for r in report.releases] == list(TAGS[:10])
    assert any("c2" in line for line in report.warnings)


def test_too_few_rounds_are_no_pass(tmp_path: Path) -> None:
    """One round a release decides nothing: UNDECIDED, exit 3."""
    report = history_of(Year(tmp_path, campaigns={"c1": (range(4), 1)}))
    assert (report.verdict, report.exit_code) == (Verdict.UNDECIDED, ExitCode.UNDECIDED)
    assert report.guarantee.smallest_p is not None
    assert report.guarantee.smallest_p > CONFIG.history.family_alpha
