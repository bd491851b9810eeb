"""`ab` as a whole, with a made-up laboratory instead of a GPU."""

from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regress.errors import ExitCode, NoDataError, UsageError
from regress.model.finding import Finding, Metric
from regress.model.reason import ReasonCode
from regress.model.report import CheckReport
from regress.model.verdict import Verdict
from regress.pipeline.ab.ab import Order, ab, judge_run
from regress.store.load import load_round
from tests.regress.builders import lost, rounds_of, write_rounds
from tests.regress.pipeline.lab import (
    BASE,
    CASES,
    FACTS,
    HEAD,
    KERNEL,
    KilledError,
    Lab,
    changed,
    judge,
    run_ab,
    sought,
)
from workloads.record import Case, Round

CASE = CASES[0]


def _of(report: CheckReport, case: Case = CASE) -> Verdict:
    (found,) = (cell.verdict for cell in report.cells if cell.case == case)
    return found


def _time(report: CheckReport, case: Case = CASE) -> Finding:
    (found,) = (
        f
        for f in report.findings
        if f.series.case == case and f.series.metric is Metric.KERNEL_TIME and f.measured
    )
    return found


def _files(root: Path) -> list[Path]:
    return sorted(root.rglob("*.json.gz"))


def test_nothing_changed_passes_after_the_first_look(tmp_path: Path) -> None:
    """Quiet cells are shown equal by four rounds a side, and nothing more is measured."""
    lab = Lab(tmp_path)
    report = run_ab(lab)
    assert (report.exit_code, report.verdict) == (ExitCode.PASS, Verdict.SAME)
    assert [(plan.stage, len(plan.todo)) for plan in lab.plans] == [("screen-1", 4)]
    assert report.run
    assert report.run.stages[0].equal == len(CASES)


def test_a_regression_is_confirmed_by_fresh_rounds(tmp_path: Path) -> None:
    """A slower case is suspected at the first look and confirmed by rounds of its own."""
    lab = Lab(tmp_path, factors={CASE: 1.05})
    report = run_ab(lab)
    assert report.exit_code is ExitCode.REGRESSION
    assert [plan.mixed for plan in lab.plans] == [False] * (len(lab.plans) - 1) + [True]
    assert lab.plans[-1].stage == "confirm"
    assert lab.plans[-1].cases == (CASE,)
    measured = _time(report).measured
    assert measured
    assert measured.p_adjusted is not None
    assert measured.p_adjusted <= 0.008
    fresh = {p.stem for p in _files(tmp_path)} & {f"{i}.json" for i in _time(report).rounds.head}
    assert len(fresh) == 10


def test_an_improvement_passes(tmp_path: Path) -> None:
    """A faster case is confirmed likewise and does not fail."""
    report = run_ab(Lab(tmp_path, factors={CASE: 0.9}))
    assert (report.exit_code, _of(report)) == (ExitCode.PASS, Verdict.IMPROVEMENT)


def test_cycles_stand_beside_time(tmp_path: Path) -> None:
    """With an equal clock the ratio in SM cycles is that of the times."""
    measured = _time(run_ab(Lab(tmp_path, factors={CASE: 1.05}))).measured
    assert measured
    assert measured.cycles
    assert measured.cycles.estimate == pytest.approx(measured.ratio.estimate, rel=0.002)


def test_a_fast_wrong_kernel_is_broken(tmp_path: Path) -> None:
    """An error beyond tolerance is worse than any gain."""
    lab = Lab(tmp_path, factors={CASE: 0.5}, alter={CASE: changed(error=0.5)})
    report = run_ab(lab)
    assert (report.exit_code, _of(report)) == (ExitCode.REGRESSION, Verdict.BROKEN)


def test_slow_in_two_of_six_passes_is_variance(tmp_path: Path) -> None:
    """The median of the passes does not see it, the spread does."""
    report = run_ab(Lab(tmp_path, slow_passes={CASE: 2}))
    assert _of(report) is Verdict.VARIANCE
    (found,) = (f for f in report.findings if f.verdict is Verdict.VARIANCE)
    assert found.spread
    assert found.spread.p_noisier <= 0.002


def test_slow_in_half_of_the_passes_is_no_pass(tmp_path: Path) -> None:
    """The median shows half of the slow-down then: REGRESSION, which is worse than VARIANCE."""
    assert _of(run_ab(Lab(tmp_path, slow_passes={CASE: 3}))) is Verdict.REGRESSION


def test_the_same_kernel_is_a_noise_alarm(tmp_path: Path) -> None:
    """If device code, plan and launch are identical, the measurement is doubted."""
    same = msgspec.structs.replace(FACTS, cubin="0123456789ab")

    class Known(Lab):
        def _record(self, case: Case, *, head: bool):  # type: ignore[no-untyped-def] # noqa: ANN202
            found = super()._record(case, head=head)
            return msgspec.structs.replace(found, facts=same, kernels=(KERNEL,))

    report = run_ab(Known(tmp_path, factors={CASE: 1.05}))
    assert _time(report).reason.code is ReasonCode.NOISE_ALARM
    assert report.exit_code is ExitCode.UNDECIDED


def test_a_kernel_that_splits_less_is_a_regression(tmp_path: Path) -> None:
    """With the same device code another plan is a cause: no noise alarm."""
    facts = msgspec.structs.replace(FACTS, cubin="0123456789ab")

    class Known(Lab):
        def _record(self, case: Case, *, head: bool):  # type: ignore[no-untyped-def] # noqa: ANN202
            found = super()._record(case, head=head)
            plan = msgspec.structs.replace(facts, chunk_tokens=4096) if head else facts
            return msgspec.structs.replace(found, facts=plan, kernels=(KERNEL,))

    report = run_ab(Known(tmp_path, factors={CASE: 1.05}))
    assert _of(report) is Verdict.REGRESSION
    assert "chunk_tokens" in {change.name for change in _time(report).evidence}


@pytest.mark.parametrize("rounds", [1, 2, 5, 8, 9, 14, 27])
def test_a_killed_run_goes_on(tmp_path: Path, rounds: int) -> None:
    """Whenever it is switched off: the same command completes it, no round counts twice."""
    lab = Lab(tmp_path, factors={CASE: 1.05}, rounds_left=rounds)
    with pytest.raises(KilledError):
        run_ab(lab)
    lab.rounds_left = 1000
    report = run_ab(lab, run="other")
    assert report.run
    assert report.run.id == "run1"
    assert report.exit_code is ExitCode.REGRESSION
    confirming = _time(report).rounds
    assert len(confirming.base) == len(confirming.head) == len(set(confirming.base)) == 10
    assert len(report.run.leftovers) == rounds % 2
    whole = Counter(
        (d.stage, d.block, r.campaign) for r in map(load_round, _files(tmp_path)) if (d := r.design)
    )
    assert sum(n == 2 for n in whole.values()) == sum(s.rounds for s in report.run.stages)


def test_rounds_that_were_planned_otherwise_are_no_run(tmp_path: Path) -> None:
    """Rounds of the same stacks from `benchmarks run` are neither judged nor gone on with."""
    lab = Lab(tmp_path / "other")
    run_ab(lab)
    for path in _files(lab.root):
        found = load_round(path)
        assert found.design
        design = msgspec.structs.replace(found.design, run="planned", stage="rounds")
        write_rounds(tmp_path, [msgspec.structs.replace(found, design=design)])
    for path in _files(lab.root):
        path.unlink()
    with pytest.raises(NoDataError, match="no run of `ab`"):
        judge(tmp_path)
    assert run_ab(Lab(tmp_path, seed=2)).exit_code is ExitCode.PASS


def test_a_run_without_its_first_stage_is_no_data(tmp_path: Path) -> None:
    """The confirmation alone says nothing of the cells that were never suspects."""
    run_ab(Lab(tmp_path, factors={CASE: 0.9}))
    for path in _files(tmp_path):
        found = load_round(path)
        assert found.design
        if found.design.stage == "screen-1":
            path.unlink()
    assert judge(tmp_path).exit_code is ExitCode.NO_DATA


@pytest.mark.parametrize("stage", ["screen-1", "confirm"])
def test_a_stage_in_which_base_lost_a_case_is_no_pass(tmp_path: Path, stage: str) -> None:
    """What cannot be compared where it counts is UNDECIDED, it does not vanish from the report."""
    run_ab(Lab(tmp_path, factors={CASE: 1.3}))
    for path in _files(tmp_path):
        found = load_round(path)
        if found.design and (found.design.stage, found.stack.tag) == (stage, BASE):
            cases = (lost(r.case) if r.case == CASE else r for r in found.cases)
            write_rounds(tmp_path, [msgspec.structs.replace(found, cases=tuple(cases))])
    report = judge(tmp_path)
    assert _of(report) is Verdict.UNDECIDED
    assert report.exit_code is ExitCode.UNDECIDED


def test_a_new_run_leaves_the_old_one(tmp_path: Path) -> None:
    """With --new nothing is taken over from a run that was broken off."""
    lab = Lab(tmp_path, rounds_left=3)
    with pytest.raises(KilledError):
        run_ab(lab)
    lab.rounds_left = 1000
    report = run_ab(lab, run="run2", anew=True)
    assert report.run
    assert report.run.id == "run2"
    assert report.run.campaigns == ("run2",)


def test_a_finished_run_is_not_gone_on_with(tmp_path: Path) -> None:
    """The same command after a finished run measures anew."""
    lab = Lab(tmp_path)
    run_ab(lab)
    again = run_ab(lab, run="run2")
    assert again.run
    assert again.run.id == "run2"


def test_judging_again_says_the_same(tmp_path: Path) -> None:
    """A finished run can be judged from its files at any time."""
    report = run_ab(Lab(tmp_path, factors={CASE: 1.05}))
    assert judge(tmp_path) == report
    assert judge(tmp_path, "run1") == report


def test_no_run_is_no_data(tmp_path: Path) -> None:
    """Judging what was never measured is no pass, and a tag that nobody knows is told."""
    write_rounds(tmp_path, [*rounds_of(BASE, {CASE: [1.0]}), *rounds_of(HEAD, {CASE: [1.0]})])
    with pytest.raises(NoDataError, match="no run of `ab`"):
        judge(tmp_path)
    with pytest.raises(UsageError, match=r"unknown stack 'vhaed'.*; did you mean vhead"):
        judge_run(sought(tmp_path, head="vhaed"), None)


def test_a_measurer_that_writes_nothing_is_stopped(tmp_path: Path) -> None:
    """Without progress the run ends with one line instead of going on for ever."""
    with pytest.raises(UsageError, match="still lacks rounds"):
        ab(sought(tmp_path), Order(lambda _: None, tmp_path, "run1"))


def test_an_open_cell_takes_more_rounds(tmp_path: Path) -> None:
    """Cells that are still open are measured again, without those that are decided."""
    lab = Lab(tmp_path, factors={CASE: 1.009}, noise=0.004, seed=1)
    run_ab(lab)
    assert [plan.stage for plan in lab.plans[:2]] == ["screen-1", "screen-2"]
    assert lab.plans[1].cases == (CASE,)
    assert (len(lab.plans[1].todo), lab.plans[1].tier) == (2, "custom")


def _swapped(found: Round) -> Round:
    tag = {BASE: HEAD, HEAD: BASE}[found.stack.tag]
    stack = msgspec.structs.replace(found.stack, tag=tag, digest=f"digest-{tag}")
    stack = msgspec.structs.replace(stack, imported={"flashinfer-python": tag[1:]})
    return msgspec.structs.replace(found, stack=stack)


@settings(max_examples=8, deadline=None)
@given(st.sampled_from([0.9, 0.985, 1.0, 1.012, 1.1]), st.integers(1, 28))
def test_swapping_sides_mirrors_the_verdict(
    tmp_path_factory: pytest.TempPathFactory, factor: float, seed: int
) -> None:
    """What is a regression one way is an improvement the other way; all else stays."""
    there, back = tmp_path_factory.mktemp("there"), tmp_path_factory.mktemp("back")
    report = run_ab(Lab(there, factors={CASE: factor}, seed=seed))
    write_rounds(back, map(_swapped, map(load_round, _files(there))))
    mirror = {Verdict.REGRESSION: Verdict.IMPROVEMENT, Verdict.IMPROVEMENT: Verdict.REGRESSION}
    mirrored = judge(back)
    for cell in report.cells:
        assert _of(mirrored, cell.case) is mirror.get(cell.verdict, cell.verdict)


def _scaled(found: Round) -> Round:
    def slower(us: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(v * 4 for v in us)

    cases = tuple(
        msgspec.structs.replace(record, kernel_us=slower(record.kernel_us))
        for record in found.cases
    )
    return msgspec.structs.replace(found, cases=cases)


@settings(max_examples=6, deadline=None)
@given(st.sampled_from([0.99, 1.0, 1.01, 1.03]), st.integers(1, 28))
def test_scaling_all_times_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, factor: float, seed: int
) -> None:
    """Only ratios count."""
    there, scaled = tmp_path_factory.mktemp("there"), tmp_path_factory.mktemp("scaled")
    report = run_ab(Lab(there, factors={CASE: factor}, seed=seed))
    write_rounds(scaled, map(_scaled, map(load_round, _files(there))))
    assert [c.verdict for c in judge(scaled).cells] == [c.verdict for c in report.cells]


def test_copies_of_a_round_add_no_confidence(tmp_path: Path) -> None:
    """A round file that is there twice counts once."""
    report = run_ab(Lab(tmp_path, factors={CASE: 1.05}))
    for path in _files(tmp_path):
        path.with_name(f"copy-{path.name}").write_bytes(path.read_bytes())
    again = judge(tmp_path)
    assert again.findings == report.findings
    assert any("counted once" in warning for warning in again.warnings)


@pytest.fixture(scope="module", params=["slow", "slow now and then", "wrong"])
def red(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that failed for one reason."""
    root = tmp_path_factory.mktemp("red")
    lab = {
        "slow": Lab(root, factors={CASE: 1.05, CASES[1]: 0.9}),
        "slow now and then": Lab(root, slow_passes={CASE: 3}),
        "wrong": Lab(root, alter={CASE: changed(error=0.5)}),
    }[request.param]
    assert run_ab(lab).exit_code is ExitCode.REGRESSION
    return root


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_removing_rounds_or_cells_never_makes_a_pass(
    red: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever is taken away of a run that failed: it does not pass."""
    rounds = [load_round(path) for path in _files(red)]
    ids = st.sets(st.sampled_from([r.id for r in rounds]), max_size=12)
    gone, where = data.draw(ids), data.draw(ids)
    cut = data.draw(st.sets(st.sampled_from(CASES), max_size=2))
    left = [_without(r, cut) if r.id in where else r for r in rounds if r.id not in gone]
    root = tmp_path_factory.mktemp("left")
    write_rounds(root, left)
    try:
        exit_code = judge(root).exit_code
    except (NoDataError, UsageError) as error:
        exit_code = error.exit_code
    assert exit_code is not ExitCode.PASS


def _without(found: Round, cut: set[Case]) -> Round:
    kept = tuple(record for record in found.cases if record.case not in cut)
    return msgspec.structs.replace(found, cases=kept or found.cases)


def test_one_missing_round_is_no_pass(tmp_path: Path) -> None:
    """A green run that lost a planned round is NO_DATA, and says which block is missing."""
    run_ab(Lab(tmp_path))
    _files(tmp_path)[0].unlink()
    report = judge(tmp_path)
    assert report.exit_code is ExitCode.NO_DATA
    assert {f.reason.code for f in report.findings} >= {ReasonCode.MISSING_ROUND}
