"""A made-up laboratory: writes synthetic rounds for a plan, as if they had been measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from regress.model.report import CheckReport
from regress.pipeline.ab.ab import Order, ab, judge_run
from regress.pipeline.ab.state import Sought
from regress.pipeline.request import Request
from tests.regress.builders import CONFIG, make_round, write_rounds
from workloads import catalog
from workloads.record import Case, CaseRecord, Design, Facts, Kernel, Round, Status
from workloads.stage import StagePlan

BASE, HEAD = "vbase", "vhead"
CASES = tuple(e.case for e in catalog.cases("gate") if "b66-skew40-t262144" in e.case.workload)[:6]
PATTERN = "|".join(str(case) for case in CASES)
KERNEL = Kernel("AttentionKernel", (66, 1, 4), (128, 1, 1))
FACTS = Facts(resolved_backend="fa2", splits_kv=True, chunk_tokens=512)

Alter = Callable[[CaseRecord], CaseRecord]


class KilledError(Exception):
    """The laboratory was switched off."""


@dataclass
class Lab:
    """Measures synthetic stacks.

    Attributes
    ----------
    factors
        How much slower a case is in head.
    alter
        What else differs in head, by case.
    slow_passes
        How many of the six passes of a case are 20 % slower in head.
    rounds_left
        After so many rounds it is switched off.
    """

    root: Path
    factors: Mapping[Case, float] = field(default_factory=dict)
    alter: Mapping[Case, Alter] = field(default_factory=dict)
    slow_passes: Mapping[Case, int] = field(default_factory=dict)
    noise: float = 0.002
    seed: int = 1
    rounds_left: int = 1000
    plans: list[StagePlan] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._count = 0

    def measure(self, plan: StagePlan) -> None:
        """Write the rounds of a plan, block by block in random order."""
        self.plans.append(plan)
        for block in plan.todo:
            for tag in self._rng.permutation(plan.stacks):
                if self._count == self.rounds_left:
                    raise KilledError
                self._count += 1
                write_rounds(self.root, [self._round(plan, str(tag), block)])

    def _round(self, plan: StagePlan, tag: str, block: int) -> Round:
        started_at = f"2026-01-{self.seed:02d}T00:{self._count // 60:02d}:{self._count % 60:02d}Z"
        design = Design(plan.run, plan.stage, plan.stacks, block, plan.blocks, len(plan.cases))
        return make_round(
            tag,
            self._count,
            [self._record(case, head=tag == HEAD) for case in plan.cases],
            id=f"{self.seed}-{self._count}-{tag}",
            campaign=plan.campaign,
            started_at=started_at,
            tier=plan.tier,
            design=design,
        )

    def _record(self, case: Case, *, head: bool) -> CaseRecord:
        us = 100.0 * np.exp(self._rng.normal(0, self.noise))
        us *= self.factors.get(case, 1.0) if head else 1.0
        passes = us * np.exp(self._rng.normal(0, 0.001, 6))
        passes[: self.slow_passes.get(case, 0) if head else 0] *= 1.2
        record = CaseRecord(
            case,
            Status.MEASURED,
            kernel_us=tuple(map(float, passes)),
            samples=(9,) * 6,
            sm_mhz=(1980,) * 6,
            error=1e-3,
            facts=FACTS,
        )
        return self.alter[case](record) if head and case in self.alter else record


def sought(root: Path, base: str = BASE, head: str = HEAD) -> Sought:
    """What the tests compare: a few cases of the gate."""
    pattern = "|".join(f"^{case}$".replace(".", r"\.") for case in CASES)
    return Sought(base, head, Request((root,), None, "gate", pattern, "cmd"), CONFIG)


def run_ab(lab: Lab, *, run: str = "run1", anew: bool = False) -> CheckReport:
    """Compare the lab's stacks."""
    return ab(sought(lab.root), Order(lab.measure, lab.root, run, anew))


def judge(root: Path, run: str | None = None) -> CheckReport:
    """Judge what is there."""
    return judge_run(sought(root), run)


def changed(**fields: object) -> Alter:
    """Return a change of some fields of a record."""
    return lambda record: msgspec.structs.replace(record, **fields)


def known_kernel(facts: Facts) -> Alter:
    """Return a change that makes the kernel known."""
    return changed(kernels=(KERNEL,), facts=facts)
