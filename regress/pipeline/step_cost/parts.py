"""Finding the cost of one backend on one batch: measured, interpolated, or by the model."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from msgspec.structs import replace

from regress.detect.step_cost import step_us
from regress.model.profile import Load
from regress.model.step_cost import Part, Source
from regress.pipeline.step_cost.times import RoundTimes, Shelf, Timed
from regress.pipeline.thresholds.predict import device_of
from workloads import catalog
from workloads.backend import backend
from workloads.devices import Device
from workloads.planner import Batch, Plan, plan_batch
from workloads.record import Case
from workloads.workload import Workload

__all__ = ["Found", "Neighbours", "Predict", "find_part", "interpolate", "measure_command"]

Predict = Callable[[Plan, Device], float]
"""Kernel time of a plan in microseconds by a model; ValueError if it has none."""
_Point = tuple[Workload, float]
_WIDEST: Final = 4.0
"""Neighbours further apart than this factor say too little about what lies between."""


@dataclass(frozen=True, slots=True)
class Found:
    """A part, and its kernel and plan() times round by round where rounds hold it."""

    part: Part
    by_round: RoundTimes
    resolved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two recorded cases and how far between them a batch lies: 0 is the lower, 1 the upper."""

    low: Timed
    high: Timed
    place: float

    def between(self, low: float, high: float) -> float:
        """Return the value on the straight line between theirs."""
        return low + self.place * (high - low)


def find_part(load: Load, name: str, layers: int, shelf: Shelf, predict: Predict) -> Found:
    """Return the cost of a backend on a batch from the best source there is."""
    case = Case(load.name, name)
    if load.workload is not None:
        timed = shelf.timed(case)
        if timed is not None:
            part = _part(load, Source.MEASURED, layers, timed.kernel_us, timed.plan_us)
            return _with_rounds(part, timed.by_round, timed)
        if refused := shelf.refused(case):
            return Found(Part(load.name, Source.REFUSED, cases=(case,), reason=refused), {})
        sides = interpolate(load.workload, name, shelf)
        if sides is not None:
            return _interpolated(load, layers, sides)
    return Found(_modelled(load, name, layers, shelf, predict), {})


def _part(load: Load, source: Source, layers: int, kernel_us: float, plan_us: float) -> Part:
    step = step_us(layers, kernel_us, plan_us)
    return Part(load.name, source, kernel_us=kernel_us, plan_us=plan_us, step_us=step)


def _with_rounds(part: Part, by_round: RoundTimes, *of: Timed) -> Found:
    cases = tuple(timed.case for timed in of)
    campaigns = tuple(dict.fromkeys(campaign for timed in of for campaign, _ in timed.by_round))
    resolved = tuple(dict.fromkeys(kernel for timed in of for kernel in timed.resolved))
    told = replace(part, rounds=len(by_round), cases=cases, campaigns=campaigns)
    return Found(told, by_round, resolved)


def _interpolated(load: Load, layers: int, sides: Neighbours) -> Found:
    low, high = sides.low, sides.high
    part = _part(
        load,
        Source.INTERPOLATED,
        layers,
        sides.between(low.kernel_us, high.kernel_us),
        sides.between(low.plan_us, high.plan_us),
    )
    by_round = {
        key: (sides.between(kernel, upper[0]), sides.between(planned, upper[1]))
        for key, (kernel, planned) in low.by_round.items()
        if (upper := high.by_round.get(key)) is not None
    }
    return _with_rounds(part, by_round, low, high)


def _modelled(load: Load, name: str, layers: int, shelf: Shelf, predict: Predict) -> Part:
    measure = measure_command(load, name, shelf.tag)
    plan = _planned(name, load.batch, shelf)
    plan_us = shelf.plan_us_near(name, len(load.batch.kv_lens))
    device = device_of(shelf.rounds[-1].machine)
    if plan is None or plan_us is None or device is None:
        return Part(load.name, Source.NOTHING, measure=measure)
    try:
        kernel_us = predict(plan, device)
    except ValueError:
        return Part(load.name, Source.NOTHING, measure=measure)
    step = step_us(layers, kernel_us, plan_us)
    return Part(load.name, Source.MODEL, kernel_us, plan_us, step, measure=measure)


def interpolate(workload: Workload, name: str, shelf: Shelf) -> Neighbours | None:
    """Return the nearest recorded batches around this one, if its planner treats all three alike.

    Along KV tokens at equal batch size, along batch size at equal KV tokens, or at equal KV
    tokens a request. Alike: see `_alike`.
    """
    plan = _planned(name, Batch.of(workload), shelf)
    if plan is None:
        return None
    sms = shelf.rounds[-1].machine.sm_count
    known = shelf.workloads.get((name, workload.shape, workload.kv.distribution), ())
    brackets = sorted(_brackets(workload, known), key=itemgetter(0))
    for factor, low, high in brackets:
        if factor > _WIDEST:
            return None
        if all(_alike(plan, _planned(name, Batch.of(w), shelf), sms) for w, _ in (low, high)):
            sides = [shelf.timed(Case(w.slug, name)) for w, _ in (low, high)]
            if sides[0] is not None and sides[1] is not None:
                place = _value_between(workload, low, high)
                return Neighbours(sides[0], sides[1], place)
    return None


def _brackets(
    workload: Workload, known: tuple[Workload, ...]
) -> Iterator[tuple[float, _Point, _Point]]:
    """Yield on each axis how far apart the neighbours are, and the neighbours."""
    kv = workload.kv
    axes = (
        (kv.total, [(w, w.kv.total) for w in known if w.kv.batch == kv.batch]),
        (kv.batch, [(w, w.kv.batch) for w in known if w.kv.total == kv.total]),
        (
            kv.batch,
            [(w, w.kv.batch) for w in known if w.kv.total * kv.batch == kv.total * w.kv.batch],
        ),
    )
    for value, points in axes:
        below = max((p for p in points if p[1] < value), key=itemgetter(1), default=None)
        above = min((p for p in points if p[1] > value), key=itemgetter(1), default=None)
        if below and above:
            yield above[1] / below[1], below, above


def _value_between(workload: Workload, low: _Point, high: _Point) -> float:
    kv = workload.kv
    value = kv.total if low[0].kv.batch == high[0].kv.batch else kv.batch
    return (value - low[1]) / (high[1] - low[1])


def _alike(one: Plan, other: Plan | None, sms: int) -> bool:
    """Whether time may grow evenly between two batches: no chunk and no wave of CTAs more.

    That some request is split at both is not enough: recorded batches left out on trial were up to
    45 % off the line between neighbours whose requests are cut into other numbers of chunks.
    """
    if other is None or (one.path, one.max_splits) != (other.path, other.max_splits):
        return False
    return one.splits_kv or -(-one.ctas // sms) == -(-other.ctas // sms)


def _planned(name: str, batch: Batch, shelf: Shelf) -> Plan | None:
    """Return the plan with the rules of the stack; None where the models do not know it."""
    latest = shelf.rounds[-1]
    device = device_of(latest.machine)
    if device is None:
        return None
    version = latest.stack.imported.get(backend(name).library)
    try:
        return plan_batch(name, batch, device, version=version)
    except ValueError:
        return None


def measure_command(load: Load, name: str, tag: str) -> str:
    """Return the command that measures a batch, or what the catalog needs first."""
    if load.workload is None:
        return "a batch of a trace is no workload: describe it as [[mix]] to measure it"
    case = Case(load.name, name)
    entry = next((e for e in catalog.cases() if e.case == case), None)
    if entry is not None:
        return f"`python -m benchmarks run {tag} --tier {entry.tier} --cells '^{case}$'`"
    shape, kv = load.workload.shape, load.workload.kv
    types = f"DType.{shape.dtype.name}, DType.{shape.kv_dtype.name}, {shape.page_size}"
    heads = f"{shape.q_heads}, {shape.kv_heads}, {shape.head_dim}, {types}"
    return (
        "add with its backends to workloads/catalog.py "
        f'`_decode(AttentionShape({heads}), {kv.batch}, "{kv.distribution}", {kv.total})`, '
        f"then `python -m benchmarks run {tag} --tier TIER --cells {load.name}@`"
    )
