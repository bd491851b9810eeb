"""Made-up deployments and rounds for tests of step costs: never results of a measurement."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from regress.model.profile import Deployment, Load
from tests.regress.builders import MACHINE, make_round, measured
from workloads.backend import Mode
from workloads.kvlen import KvLengths
from workloads.planner import Batch
from workloads.record import Case, CaseRecord, Round
from workloads.shape import AttentionShape
from workloads.workload import Phase, Workload

SHAPE: Final = AttentionShape(32, 4)
CUDA: Final = "flashinfer-decode-cuda"
FA2: Final = "flashinfer-decode-tc-fa2"
AUTO: Final = "flashinfer-decode-tc-auto"
VARLEN: Final = "fa3-varlen"
EVERY: Final = (CUDA, FA2, AUTO, VARLEN)
H200: Final = msgspec.structs.replace(MACHINE, gpu="NVIDIA H200")
"""A machine whose planners are known."""


def load_of(
    batch: int, tokens: int = 262_144, distribution: str = "uniform", weight: float = 1.0
) -> Load:
    """One batch of a mixture."""
    workload = Workload(Phase.DECODE, SHAPE, KvLengths(distribution, batch, tokens))
    return Load(workload.slug, weight, Batch.of(workload), workload)


def deployment(*loads: Load, layers: int = 10, backends: Sequence[str] = EVERY) -> Deployment:
    """A profile in eager mode."""
    return Deployment("made up", Mode.EAGER, 1, layers, SHAPE, loads, tuple(backends))


def scaled(found: Deployment, factor: float) -> Deployment:
    """The same with all weights times a factor."""
    loads = (replace(load, weight=load.weight * factor) for load in found.loads)
    return replace(found, loads=tuple(loads))


def record(load: Load, name: str, kernel_us: float, plan_us: float = 0.0) -> CaseRecord:
    """A measured case; a backend of FlashInfer has plan() times, another has none."""
    plans = (plan_us,) if name.startswith("flashinfer") else ()
    return measured(Case(load.name, name), kernel_us, plan_us=plans)


def rounds(
    tag: str,
    times: Mapping[tuple[Load, str], tuple[float, float]],
    count: int = 5,
    factors: Sequence[float] | None = None,
) -> tuple[Round, ...]:
    """Rounds of one campaign with (kernel, plan()) times; each round's times get a factor."""
    return tuple(
        make_round(
            tag,
            number,
            [record(*key, kernel * factor, planned) for key, (kernel, planned) in times.items()],
            machine=H200,
        )
        for number, factor in enumerate(factors or [1 + 0.001 * n for n in range(count)])
    )
