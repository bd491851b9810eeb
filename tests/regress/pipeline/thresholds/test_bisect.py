"""Bisection over a made-up laboratory that plans as told."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from regress.errors import UsageError
from regress.model.thresholds import Bracket, StackPair
from regress.pipeline.request import ANY_TIER, Request
from regress.pipeline.thresholds.bisect import Search, axes_through, bisect
from regress.pipeline.thresholds.thresholds import thresholds
from tests.regress.builders import CONFIG, MACHINE, make_round, measured, write_rounds
from workloads.record import Design, Facts, Machine, StackRef
from workloads.rehearsal import REHEARSAL
from workloads.stage import StagePlan
from workloads.workload import parse

SLUG = "decode-h32x4-d128-bf16-p16-b66-skew40-t262144"
H200 = msgspec.structs.replace(MACHINE, gpu="NVIDIA H200")
THRESHOLDS = {"flashinfer-decode-tc-fa2": 66, "flashinfer-decode-cuda": 297, "fa3-varlen": 993}


class PlanningLab:
    """Writes a round a stage whose plans stop splitting where it is told."""

    def __init__(
        self, root: Path, thresholds: Mapping[str, int | None], machine: Machine = MACHINE
    ) -> None:
        self.root, self.thresholds, self.machine = root, thresholds, machine
        self.plans: list[StagePlan] = []
        self.breaks_at: int | None = None

    def measure(self, plan: StagePlan) -> None:
        if len(self.plans) == self.breaks_at:
            raise KeyboardInterrupt
        self.plans.append(plan)
        records = []
        for case in plan.cases:
            threshold = self.thresholds[case.backend]
            splits = None if threshold is None else 1 + (_batch(case.workload) < threshold)
            records.append(measured(case, 100.0, facts=Facts(max_splits=splits)))
        design = Design(plan.run, plan.stage, plan.stacks, 1, plan.blocks)
        number = len(self.plans)
        told = make_round(
            "vhead",
            number,
            records,
            plan.campaign,
            design=design,
            stack=StackRef("vhead", "digest", {"flashinfer-python": "0.6.1", "fa3-fwd": "0.0.3"}),
            machine=self.machine,
            started_at=f"2026-01-01T00:{number:02d}:00Z",
        )
        write_rounds(self.root, [told])

    def batches(self, backend: str) -> set[int]:
        return {_batch(c.workload) for p in self.plans for c in p.cases if c.backend == backend}


def _batch(slug: str) -> int:
    return parse(slug).kv.batch


def found_by(lab: PlanningLab) -> dict[str, Bracket | None]:
    """Bisect, and return what the report says of each backend."""
    axes = axes_through(SLUG, lab.thresholds)
    bisect("vhead", axes, Search(lab.measure, lab.root, "bisect-1"), CONFIG.thresholds)
    request = Request((lab.root,), None, ANY_TIER, None, "cmd")
    report = thresholds(StackPair(None, "vhead"), request, CONFIG, run="bisect-1")
    return {a.axis.backend: a.head.planned for a in report.axes if a.head}


def test_every_backend_is_exact_within_ten_batches(tmp_path: Path) -> None:
    """On an unknown GPU halving alone finds the thresholds, all backends in one round a step."""
    lab = PlanningLab(tmp_path, THRESHOLDS)
    assert found_by(lab) == {name: Bracket(t - 1, t) for name, t in THRESHOLDS.items()}
    assert len(lab.plans) <= 10
    assert all(len(lab.batches(name)) <= 10 for name in THRESHOLDS)
    assert all((p.stacks, p.blocks, p.tier) == (("vhead",), 1, "custom") for p in lab.plans)


def test_a_known_gpu_takes_two_rounds(tmp_path: Path) -> None:
    """Once a round names an H200 the model's guess settles all three backends."""
    lab = PlanningLab(tmp_path, THRESHOLDS, H200)
    assert found_by(lab) == {name: Bracket(t - 1, t) for name, t in THRESHOLDS.items()}
    assert len(lab.plans) == 2
    assert all(len(lab.batches(name)) <= 3 for name in THRESHOLDS)


def test_a_planner_unlike_its_model_is_found_all_the_same(tmp_path: Path) -> None:
    """The guess of 66 is wrong: the rest of the range is halved, within ten batches."""
    lab = PlanningLab(tmp_path, {"flashinfer-decode-tc-fa2": 81}, H200)
    assert found_by(lab) == {"flashinfer-decode-tc-fa2": Bracket(80, 81)}
    assert len(lab.batches("flashinfer-decode-tc-fa2")) <= 10


def test_a_silent_plan_ends_its_search(tmp_path: Path) -> None:
    """A backend without facts is measured once; the others go on."""
    lab = PlanningLab(tmp_path, {"flashinfer-decode-tc-fa2": 66, "fa3-varlen": None})
    found = found_by(lab)
    assert found["flashinfer-decode-tc-fa2"] == Bracket(65, 66)
    assert len(lab.batches("fa3-varlen")) == 1


def test_every_batch_is_measured_even_and_skewed(tmp_path: Path) -> None:
    """The height needs both."""
    lab = PlanningLab(tmp_path, {"fa3-varlen": 993})
    found_by(lab)
    kinds = {parse(c.workload).kv.distribution for p in lab.plans for c in p.cases}
    assert kinds == {"uniform", "skew40"}


def broken_off(lab: PlanningLab, after: int) -> None:
    """Bisect until it is interrupted after so many rounds."""
    lab.breaks_at = after
    axes = axes_through(SLUG, lab.thresholds)
    with pytest.raises(KeyboardInterrupt):
        bisect("vhead", axes, Search(lab.measure, lab.root, "bisect-1"), CONFIG.thresholds)
    lab.breaks_at = None


def test_a_bisection_that_was_broken_off_goes_on(tmp_path: Path) -> None:
    """Together both stretches measure what one would, as one run of two campaigns."""
    whole = PlanningLab(tmp_path / "whole", THRESHOLDS)
    found_by(whole)
    lab = PlanningLab(tmp_path / "broken", THRESHOLDS)
    broken_off(lab, 3)
    axes = axes_through(SLUG, lab.thresholds)
    rounds = bisect("vhead", axes, Search(lab.measure, lab.root, "bisect-2"), CONFIG.thresholds)
    assert [p.cases for p in lab.plans] == [p.cases for p in whole.plans]
    assert len({p.stage for p in lab.plans}) == len(lab.plans) == len(rounds)
    assert {p.run for p in lab.plans} == {"bisect-1"}
    campaigns = [p.campaign for p in lab.plans]
    assert campaigns == ["bisect-1"] * 3 + ["bisect-1~2"] * (len(campaigns) - 3)


@pytest.mark.parametrize("why", ["finished", "other axes", "--new"])
def test_another_bisection_begins(tmp_path: Path, why: str) -> None:
    """One that is finished, of other backends, or not wanted is left as it is."""
    lab = PlanningLab(tmp_path, THRESHOLDS, H200)
    if why == "finished":
        found_by(lab)
    else:
        broken_off(lab, 1)
    names = ["fa3-varlen"] if why == "other axes" else list(THRESHOLDS)
    search = Search(lab.measure, tmp_path, "bisect-2", anew=why == "--new")
    rounds = bisect("vhead", axes_through(SLUG, names), search, CONFIG.thresholds)
    assert {r.design.run for r in rounds if r.design} == {"bisect-2"}
    assert len(rounds) == 2


def test_a_rehearsal_is_never_gone_on_with(tmp_path: Path) -> None:
    """What a script said is no state of a bisection that measures."""
    lab = PlanningLab(tmp_path, THRESHOLDS, msgspec.structs.replace(MACHINE, name=REHEARSAL))
    lab.breaks_at = 1
    search = Search(lab.measure, tmp_path, "rehearsed", REHEARSAL)
    with pytest.raises(KeyboardInterrupt):
        bisect("vhead", axes_through(SLUG, THRESHOLDS), search, CONFIG.thresholds)
    real = PlanningLab(tmp_path, THRESHOLDS, H200)
    search = Search(real.measure, tmp_path, "measured")
    rounds = bisect("vhead", axes_through(SLUG, THRESHOLDS), search, CONFIG.thresholds)
    assert {r.machine.name for r in rounds} == {H200.name}
    assert {p.run for p in real.plans} == {"measured"}


def test_going_on_with_another_gpu_is_an_error(tmp_path: Path) -> None:
    """Its threshold is another one."""
    lab = PlanningLab(tmp_path, THRESHOLDS)
    broken_off(lab, 1)
    lab.machine = msgspec.structs.replace(MACHINE, sm_count=78)
    axes = axes_through(SLUG, lab.thresholds)
    with pytest.raises(UsageError, match=r"another set-up: SMs .* begin another with --new"):
        bisect("vhead", axes, Search(lab.measure, tmp_path, "bisect-2"), CONFIG.thresholds)


def test_measuring_that_writes_nothing_is_an_error(tmp_path: Path) -> None:
    """It would go on for ever."""
    axes = axes_through(SLUG, ["fa3-varlen"])
    with pytest.raises(UsageError, match="still has no round"):
        bisect("vhead", axes, Search(lambda _: None, tmp_path, "r"), CONFIG.thresholds)


@pytest.mark.parametrize(
    ("slug", "backend", "message"),
    [
        ("nonsense", "fa3-varlen", "no workload slug"),
        (SLUG.replace("skew40", "uniform"), "fa3-varlen", "lies on no line"),
        (SLUG, "fa9", "unknown backend 'fa9'"),
    ],
)
def test_a_wrong_request_is_one_line(slug: str, backend: str, message: str) -> None:
    """Before anything is measured."""
    with pytest.raises(UsageError, match=message):
        axes_through(slug, [backend])
