"""Step costs of synthetic rounds: arithmetic by hand, gaps, choices, upgrades."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regress.errors import ExitCode, NoDataError
from regress.model.profile import Deployment, Load
from regress.model.step_cost import BackendCost, Source, StepCostReport
from regress.model.thresholds import StackPair
from regress.model.verdict import Verdict
from regress.pipeline.request import ANY_TIER, Request
from regress.pipeline.step_cost.step_cost import latest_stack, step_cost
from tests.regress.builders import CONFIG, lost, make_round, write_rounds
from tests.regress.pipeline.deployments import (
    AUTO,
    CUDA,
    EVERY,
    FA2,
    H200,
    VARLEN,
    deployment,
    load_of,
    record,
    rounds,
    scaled,
)
from workloads.devices import Device
from workloads.planner import Batch, Plan
from workloads.record import Case, Status

EVEN, SKEWED = load_of(64, weight=3.0), load_of(64, distribution="skew40", weight=1.0)
TIMES = {
    (EVEN, CUDA): (200.0, 50.0),
    (SKEWED, CUDA): (400.0, 50.0),
    (EVEN, FA2): (100.0, 100.0),
    (SKEWED, FA2): (900.0, 100.0),
    (EVEN, AUTO): (300.0, 150.0),
    (SKEWED, AUTO): (1000.0, 250.0),
    (EVEN, VARLEN): (120.0, 0.0),
    (SKEWED, VARLEN): (140.0, 0.0),
}


def no_model(_plan: Plan, _device: Device) -> float:
    msg = "made up: there is no model"
    raise ValueError(msg)


def priced(
    root: Path,
    found: Deployment,
    *tags: str,
    predict: object = no_model,
) -> StepCostReport:
    stacks = StackPair(tags[0] if len(tags) > 1 else None, tags[-1])
    request = Request((root,), None, ANY_TIER, None, "made up")
    return step_cost(found, stacks, request, CONFIG, predict)  # type: ignore[arg-type]


def of(report: StepCostReport, name: str, stack: int = -1) -> BackendCost:
    return next(b for b in report.costs[stack].backends if b.backend == name)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rounds")
    faster = {
        key: (kernel * (0.5 if key[1] == AUTO else 1), p) for key, (kernel, p) in TIMES.items()
    }
    write_rounds(folder, rounds("v1.0", TIMES))
    write_rounds(folder, rounds("v2.0", faster))
    return folder


def test_arithmetic_by_hand(root: Path) -> None:
    """Layers times kernel plus plan() once, weighted 3 to 1; the middle round counts."""
    report = priced(root, deployment(EVEN, SKEWED), "v1.0")
    # Round 2 of 0 to 4 has a factor of 1.002 on kernels.
    kernels = 10 * 1.002 * (0.75 * 200 + 0.25 * 400)
    cost = of(report, CUDA)
    assert cost.kernel_us == pytest.approx(kernels)
    assert cost.plan_us == pytest.approx(50.0)
    assert cost.step_us == pytest.approx(kernels + 50.0)
    assert of(report, AUTO).plan_us == pytest.approx(0.75 * 150 + 0.25 * 250)
    assert of(report, VARLEN).step_us == pytest.approx(10 * 1.002 * (0.75 * 120 + 0.25 * 140))
    assert report.exit_code is ExitCode.PASS
    assert report.verdict is None


def test_the_best_and_what_choices_cost(root: Path) -> None:
    """CUDA cores win on paged KV; auto costs the difference, with an interval."""
    report = priced(root, deployment(EVEN, SKEWED), "v1.0")
    cost = report.costs[0]
    assert (cost.best, cost.best_any) == (CUDA, VARLEN)
    assert [load.best for load in cost.loads] == [FA2, CUDA]
    assert cost.best_each_us == pytest.approx(0.75 * (1002 + 100) + 0.25 * (4008 + 50))
    choices = {c.chooser: c for c in cost.choices}
    auto = choices[AUTO]
    extra = 10.02 * (0.75 * 300 + 0.25 * 1000 - 250) + 175 - 50
    assert auto.extra_us == pytest.approx(extra)
    assert auto.best == CUDA
    assert auto.ratio is not None
    assert auto.ratio.low is not None
    assert auto.ratio.high is not None
    assert auto.ratio.low <= auto.ratio.estimate <= auto.ratio.high
    assert choices["sglang-tensor-cores"].picked == AUTO
    assert choices["sglang-fa2-pin"].picked == FA2
    assert choices["sglang-hopper-fa3"].best == VARLEN
    assert choices["sglang-hopper-fa3"].extra_us == 0


@settings(max_examples=15, deadline=None)
@given(factor=st.floats(0.01, 1000), layers=st.integers(1, 200))
def test_weights_scale_out_and_layers_add_up(root: Path, factor: float, layers: int) -> None:
    """Only the weights' proportions matter; each layer more costs one kernel more."""
    plain = deployment(EVEN, SKEWED)
    deep = deployment(EVEN, SKEWED, layers=layers)
    one, other = priced(root, plain, "v1.0"), priced(root, scaled(plain, factor), "v1.0")
    many = priced(root, deep, "v1.0")
    for name in EVERY:
        assert of(one, name).step_us == pytest.approx(of(other, name).step_us)
        kernel_us, plan_us = of(one, name).kernel_us, of(one, name).plan_us
        assert kernel_us is not None
        assert plan_us is not None
        assert of(many, name).step_us == pytest.approx(kernel_us / 10 * layers + plan_us)


def test_an_unmeasured_part_is_no_zero(root: Path) -> None:
    """A batch that no round holds: no cost at all, how to measure it, exit code 4."""
    report = priced(root, deployment(EVEN, load_of(7, 9999)), "v1.0")
    cost = of(report, FA2)
    assert (cost.step_us, cost.source) == (None, Source.NOTHING)
    assert cost.covered == pytest.approx(0.75)
    assert '7, "uniform", 9999' in cost.parts[1].measure
    assert report.exit_code is ExitCode.NO_DATA
    assert report.costs[0].best is None
    assert all(c.step_us is None for c in report.costs[0].choices)


def test_a_case_of_the_catalog_names_its_command(tmp_path: Path) -> None:
    """What the catalog holds is measured by one command."""
    write_rounds(tmp_path, rounds("v1.0", {(EVEN, CUDA): (200.0, 50.0)}))
    report = priced(tmp_path, deployment(EVEN), "v1.0")
    measure = of(report, FA2).parts[0].measure
    assert measure.startswith("`python -m benchmarks run v1.0 --tier nightly --cells ")
    assert f"{EVEN.name}@{FA2}" in measure


def test_a_model_fills_gaps_and_is_no_measurement(root: Path) -> None:
    """Its time is taken with plan() of the nearest batch, labelled, and still exits 4."""
    report = priced(root, deployment(load_of(7, 9999)), "v1.0", predict=lambda _plan, _device: 40.0)
    cost = of(report, CUDA)
    assert (cost.source, cost.covered) == (Source.MODEL, 0.0)
    assert cost.step_us == pytest.approx(10 * 40.0 + 50.0)
    assert cost.parts[0].measure
    assert report.exit_code is ExitCode.NO_DATA


def test_measured_backends_come_before_modelled_ones(root: Path) -> None:
    """However fast a model says a backend is, best is one that was measured."""
    gap = load_of(128, 4096)
    write = {(EVEN, CUDA): (200.0, 50.0), (gap, CUDA): (20.0, 50.0), (EVEN, FA2): (1.0, 1.0)}
    folder = root / "gap"
    write_rounds(folder, rounds("v1.0", write))
    found = deployment(EVEN, gap, backends=(CUDA, FA2))
    report = priced(folder, found, "v1.0", predict=lambda _plan, _device: 0.1)
    assert report.costs[0].best == CUDA
    assert of(report, FA2).source is Source.MODEL


def test_a_backend_without_its_plan_time_is_not_measured(tmp_path: Path) -> None:
    """FlashInfer's plan() is paid every step: a round without its time tells no step cost."""
    bare = msgspec.structs.replace(record(EVEN, CUDA, 200.0), plan_us=())
    write_rounds(tmp_path, [make_round("v1.0", n, [bare], machine=H200) for n in range(5)])
    report = priced(tmp_path, deployment(EVEN, backends=(CUDA,)), "v1.0")
    assert of(report, CUDA).step_us is None
    assert report.exit_code is ExitCode.NO_DATA


def test_what_cannot_run_says_why_and_passes(tmp_path: Path) -> None:
    """It was tried: that is an answer, not a gap."""
    records = [
        record(EVEN, CUDA, 200.0, 50.0),
        lost(Case(EVEN.name, AUTO), Status.SKIPPED, "no fa3"),
    ]
    write_rounds(tmp_path, [make_round("v1.0", n, records, machine=H200) for n in range(5)])
    report = priced(tmp_path, deployment(EVEN, backends=(CUDA, AUTO)), "v1.0")
    cost = of(report, AUTO)
    assert (cost.source, cost.step_us, cost.parts[0].reason) == (Source.REFUSED, None, "no fa3")
    assert report.exit_code is ExitCode.PASS


def near(tokens: int) -> Load:
    return load_of(128, tokens)


def test_between_alike_batches_it_is_interpolated(tmp_path: Path) -> None:
    """Uniform, unsplit, one size: a third of the way in tokens is a third of the way in time."""
    write_rounds(
        tmp_path,
        rounds(
            "v1.0",
            {(near(98_304), FA2): (100.0, 30.0), (near(196_608), FA2): (190.0, 60.0)},
            factors=[1.0] * 5,
        ),
    )
    report = priced(tmp_path, deployment(near(131_072), backends=(FA2,)), "v1.0")
    part = of(report, FA2).parts[0]
    assert part.source is Source.INTERPOLATED
    assert part.kernel_us == pytest.approx(130.0)
    assert part.plan_us == pytest.approx(40.0)
    assert part.step_us == pytest.approx(1340.0)
    assert [case.workload for case in part.cases] == [near(98_304).name, near(196_608).name]
    assert report.exit_code is ExitCode.PASS


@pytest.mark.parametrize(
    ("low", "wanted", "high"),
    [
        (
            load_of(64, distribution="skew40"),
            load_of(65, distribution="skew40"),
            load_of(70, distribution="skew40"),
        ),
        (load_of(66), load_of(67), load_of(68)),
        (near(8192), near(65_536), near(524_288)),
    ],
    ids=["threshold at 66", "one wave more after 66", "too far apart"],
)
def test_across_a_change_nothing_is_interpolated(
    tmp_path: Path, low: Load, wanted: Load, high: Load
) -> None:
    """Where the planner treats the neighbours in another way, or they are far, nothing is said."""
    write_rounds(tmp_path, rounds("v1.0", {(low, FA2): (100.0, 30.0), (high, FA2): (190.0, 60.0)}))
    report = priced(tmp_path, deployment(wanted, backends=(FA2,)), "v1.0")
    assert of(report, FA2).source is Source.NOTHING
    assert report.exit_code is ExitCode.NO_DATA


def test_an_upgrade_has_the_verdict_of_its_cells(root: Path) -> None:
    """Auto became twice as fast, the others did not move."""
    report = priced(root, deployment(EVEN, SKEWED), "v1.0", "v2.0")
    verdicts = {u.backend: u.verdict for u in report.upgrades}
    assert verdicts == {
        AUTO: Verdict.IMPROVEMENT,
        CUDA: Verdict.SAME,
        FA2: Verdict.SAME,
        VARLEN: Verdict.SAME,
    }
    assert (report.verdict, report.exit_code) == (Verdict.IMPROVEMENT, ExitCode.PASS)
    auto = report.upgrades[0]
    before = 10.02 * (0.75 * 300 + 0.25 * 1000) + 175
    after = before - 10.02 * 0.5 * (0.75 * 300 + 0.25 * 1000)
    assert (auto.base_us, auto.head_us) == (pytest.approx(before), pytest.approx(after))
    assert auto.ratio is not None
    assert auto.ratio.estimate == pytest.approx(after / before, rel=1e-3)
    assert auto.ratio.confidence > 0.8


def test_swapping_the_stacks_makes_it_a_regression(root: Path) -> None:
    """The same cells the other way round fail with exit code 1."""
    report = priced(root, deployment(EVEN, SKEWED), "v2.0", "v1.0")
    assert (report.verdict, report.exit_code) == (Verdict.REGRESSION, ExitCode.REGRESSION)
    assert report.upgrades[0].backend == AUTO


def test_a_batch_of_one_stack_alone_is_no_data(tmp_path: Path) -> None:
    """Head lacks a batch: no ratio, NO_DATA, exit code 4."""
    write_rounds(tmp_path, rounds("v1.0", {(EVEN, CUDA): (9.0, 1.0), (SKEWED, CUDA): (9.0, 1.0)}))
    write_rounds(tmp_path, rounds("v2.0", {(EVEN, CUDA): (9.0, 1.0)}))
    found = deployment(EVEN, SKEWED, backends=(CUDA,))
    report = priced(tmp_path, found, "v1.0", "v2.0")
    (upgrade,) = report.upgrades
    assert (upgrade.verdict, upgrade.ratio, upgrade.head_us) == (Verdict.NO_DATA, None, None)
    assert report.exit_code is ExitCode.NO_DATA


def test_what_stopped_running_is_gone(tmp_path: Path) -> None:
    """Base ran it, head fails: exit code 1 whatever it would cost."""
    broken = [lost(Case(EVEN.name, CUDA))]
    write_rounds(tmp_path, rounds("v1.0", {(EVEN, CUDA): (9.0, 1.0)}))
    write_rounds(tmp_path, [make_round("v2.0", n, broken, machine=H200) for n in range(5)])
    report = priced(tmp_path, deployment(EVEN, backends=(CUDA,)), "v1.0", "v2.0")
    assert report.verdict is Verdict.GONE
    assert report.exit_code is ExitCode.REGRESSION


def test_a_batch_of_a_trace_is_modelled_alone(root: Path) -> None:
    """No round can hold it by name."""
    found = deployment(Load("line 1", 1.0, Batch((5, 6), EVEN.batch.shape)))
    report = priced(
        root, found, "v1.0", predict=lambda plan, _device: float(sum(plan.batch.kv_lens))
    )
    assert of(report, VARLEN).step_us == pytest.approx(110.0)
    assert {b.source for b in report.costs[0].backends} == {Source.MODEL}


def test_the_latest_stack_is_the_newest_release(root: Path, tmp_path: Path) -> None:
    """Versions are compared as versions; without rounds there is none."""
    write_rounds(tmp_path, rounds("v10.0", {(EVEN, CUDA): (9.0, 1.0)}))
    write_rounds(tmp_path, rounds("zz-mine", {(EVEN, CUDA): (9.0, 1.0)}))
    request = Request((root, tmp_path), None, ANY_TIER, None, "made up")
    assert latest_stack(request) == "v10.0"
    with pytest.raises(NoDataError, match="no rounds"):
        latest_stack(Request((tmp_path / "none",), None, ANY_TIER, None, "made up"))
