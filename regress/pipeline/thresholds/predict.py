"""What the model of a planner predicts along an axis, for the GPU that the rounds name."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Final

from msgspec.structs import replace

from regress.config import ThresholdsRule
from regress.detect.threshold_bisect import narrowed, next_batches
from regress.model.line import Axis
from regress.model.thresholds import Bracket
from regress.pipeline.thresholds.lines import parsed
from workloads.backend import backend
from workloads.devices import DEVICES, Device
from workloads.planner import Batch, Plan, plan_batch
from workloads.record import Case, Facts, Machine, Round

__all__ = ["Planner", "device_named", "device_of", "occupancies_of", "occupancy_of", "predicted_of"]

_CUDA: Final = "flashinfer-decode-cuda"
_SERVING: Final = "flashinfer-decode-cuda-serving"
_UNTOLD: Final = (None, "auto")
"""What some releases say instead of what `auto` became."""
_PLANNED: Final = (
    *("splits_kv", "chunk_tokens", "padded_batch"),
    *("q_tile", "max_splits", "work_items"),
)
"""Facts that a model also gives, under the same names."""

_Planned = Iterable[tuple[Case, Facts]]


@dataclass(frozen=True, slots=True)
class Planner:
    """The models of one stack's planners on one GPU.

    Attributes
    ----------
    versions
        Of each library.
    occupancies
        CTAs of the CUDA-core decode kernel on an SM by shape, where plans tell it.
    """

    device: Device
    versions: Mapping[str, str]
    occupancies: Mapping[str, int]

    def plan(self, case: Case) -> Plan | None:
        """Return what becomes of a case; None where nothing is known of that."""
        version = self.versions.get(backend(case.backend).library)
        cuda = case.backend.startswith(_CUDA)
        told = self.occupancies.get(_shape_of(case)) if cuda else None
        return _plan(case, self.device, version, told)

    def threshold(
        self, axis: Axis, rule: ThresholdsRule, guess: int | None = None
    ) -> Bracket | None:
        """Return where splitting ends, or None if nothing is known of the axis.

        Looked for by bisection: along an axis a planner that has stopped does not begin again. A
        right guess saves most of it.
        """
        known: dict[int, bool] = {}
        unlimited = replace(rule, most_batches=rule.largest_batch)
        while tried := next_batches(known, guess, unlimited):
            for batch in tried:
                made = self.plan(axis.case(batch))
                if made is None:
                    return None
                known[batch] = made.splits_kv
        return narrowed(known, rule)

    def reproduces(self, case: Case, facts: Facts) -> bool | None:
        """Whether the model gives every fact that a round recorded of a case's plan.

        None if the facts say nothing of the plan. A plan of what the model knows nothing of is one
        that it does not give.
        """
        told = {name: fact for name in _PLANNED if (fact := getattr(facts, name)) is not None}
        if not told:
            return None
        made = self.plan(case)
        if made is None:
            return False
        chosen = facts.resolved_backend if backend(case.backend).chooses else None
        same = all(fact == getattr(made, name) for name, fact in told.items())
        return same and chosen in {*_UNTOLD, made.path}


@cache
def _plan(case: Case, device: Device, version: str | None, occupancy: int | None) -> Plan | None:
    try:
        batch = _batch(case.workload)
        return plan_batch(case.backend, batch, device, version=version, occupancy=occupancy)
    except ValueError:
        # The model says so where it knows nothing of a backend, type or head count.
        return None


@cache
def _batch(slug: str) -> Batch:
    return Batch.of(parsed(slug))


def predicted_of(axis: Axis, rounds: Sequence[Round], rule: ThresholdsRule) -> Bracket | None:
    """Return where the model stops splitting, or None if it does not know backend or GPU."""
    latest = rounds[-1]
    device = device_of(latest.machine)
    if device is None:
        return None
    told = occupancy_of(axis.shape, rounds) if axis.backend.startswith(_CUDA) else None
    occupancies = {} if told is None else {axis.shape: told}
    return Planner(device, latest.stack.imported, occupancies).threshold(axis, rule)


def device_of(machine: Machine) -> Device | None:
    """Return the GPU of a round, known by its name and its SMs; None if the table lacks it."""
    return device_named(machine.gpu, machine.sm_count)


def device_named(gpu: str, sms: int) -> Device | None:
    """Return the GPU that a driver calls so and that has so many SMs, if the table knows it."""
    words = gpu.lower().split()
    fitting = (d for d in DEVICES if d.name.partition("-")[0] in words)
    return next((d for d in fitting if d.sms == sms), None)


def occupancy_of(shape: str, rounds: Sequence[Round]) -> int | None:
    """Return the CTAs of the CUDA-core decode kernel on an SM, as plans for serving tell it."""
    planned = ((record.case, record.facts) for r in rounds for record in r.cases if record.facts)
    of_shape = ((c, f) for c, f in planned if c.workload.startswith(f"{shape}-b"))
    return occupancies_of(of_shape, rounds[-1].machine.sm_count).get(shape)


def occupancies_of(planned: _Planned, sms: int) -> dict[str, int]:
    """Return the same of every shape, from the plans of one stack on a GPU of so many SMs.

    A plan for serving pads its grid to all CTAs that the GPU holds, as long as the batch is
    smaller.
    """
    found: dict[str, int] = {}
    for case, padded in _padded(planned):
        ctas = ceil(padded * parsed(case.workload).shape.kv_heads / sms)
        shape = _shape_of(case)
        found[shape] = min(found.get(shape, ctas), ctas)
    return found


def _padded(planned: _Planned) -> Iterator[tuple[Case, int]]:
    for case, facts in planned:
        if case.backend == _SERVING and facts.padded_batch is not None:
            yield case, facts.padded_batch


def _shape_of(case: Case) -> str:
    """Return the slug up to the batch size."""
    return case.workload.partition(f"-b{parsed(case.workload).kv.batch}-")[0]
