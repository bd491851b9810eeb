"""What else differs between the sides of a cell: facts of the plan, kernels, clocks, warnings."""

from collections import Counter
from collections.abc import Iterable, Iterator
from statistics import median

from regress.config import EvidenceRule
from regress.detect.decide import ratio_of, strata_of
from regress.model.cell import Cell, Side, cycles
from regress.model.finding import Change, Ratio, Scalar
from regress.stats.shift import shift
from workloads.record import Facts

__all__ = ["changes", "cycles_ratio", "same_kernel"]


def changes(cell: Cell, rule: EvidenceRule) -> tuple[Change, ...]:
    """Return what differs between the chosen rounds of both sides."""
    return (*_facts(cell), *_kernels(cell), *_clocks(cell, rule), *_warnings(cell, rule))


def same_kernel(cell: Cell) -> bool:
    """Whether every compared round ran the very same kernels in the very same way.

    Device code, facts of the plan and launch shape must be known and equal; the set-up, with the
    toolchain, is equal anyway. Then head cannot be slower by itself.
    """
    ran = {
        (o.record.facts, o.record.kernels)
        for side in (cell.base, cell.head)
        for o in side.chosen
        if o.measured
    }
    return len(ran) == 1 and all(facts and facts.cubin and kernels for facts, kernels in ran)


def cycles_ratio(cell: Cell, alpha: float) -> Ratio | None:
    """Return head over base in SM cycles, or None where clocks cannot be read."""
    pairs = cell.pairs(cycles)
    return ratio_of(shift(strata_of(pairs), alpha)) if pairs else None


def _facts(cell: Cell) -> Iterator[Change]:
    told = {o.record.facts for side in (cell.base, cell.head) for o in side.chosen}
    if len(told) <= 1:
        return  # As in most comparisons: counting would find nothing.
    for name in Facts.__struct_fields__:
        base, head = (_usual_fact(side, name) for side in (cell.base, cell.head))
        if base != head:
            yield Change(name, base, head)


def _usual_fact(side: Side, name: str) -> Scalar:
    """Return the commonest value over rounds, or None if no round gives the fact."""
    values = (getattr(o.record.facts, name) for o in side.chosen if o.record.facts)
    return _usual(v for v in values if v is not None)


def _kernels(cell: Cell) -> Iterator[Change]:
    sides = (cell.base, cell.head)
    if len({o.record.kernels for side in sides for o in side.chosen}) <= 1:
        return
    base, head = (
        _usual(" + ".join(map(str, o.record.kernels)) for o in side.chosen if o.record.kernels)
        for side in sides
    )
    if base and head and base != head:
        yield Change("kernels", base, head)


def _usual(values: Iterable[Scalar]) -> Scalar:
    counted = Counter(values).most_common(1)
    return counted[0][0] if counted else None


def _clocks(cell: Cell, rule: EvidenceRule) -> Iterator[Change]:
    base, head = (
        [mhz for o in side.chosen for mhz in o.record.sm_mhz] for side in (cell.base, cell.head)
    )
    if base and head:
        before, after = median(base), median(head)
        if before and abs(after / before - 1) > rule.clock_difference:
            yield Change("sm_mhz", float(before), float(after))


def _warnings(cell: Cell, rule: EvidenceRule) -> Iterator[Change]:
    """Compare the share of rounds with each warning: one of many rounds has most of them once."""
    sides = [[o.record.warnings for o in side.chosen] for side in (cell.base, cell.head)]
    if not all(sides):
        return
    for code in sorted({code for side in sides for found in side for code in found}):
        base, head = (sum(code in found for found in side) / len(side) for side in sides)
        if abs(head - base) >= rule.warning_difference:
            yield Change(code, round(base, 3), round(head, 3))
