"""Detector `coverage`: is a case still measured wherever it was."""

from collections import Counter
from collections.abc import Iterator, Sequence

from regress.config import Config
from regress.counted import counted
from regress.model.cell import Cell, Observation
from regress.model.finding import Finding, Metric, RoundIds, Series
from regress.model.reason import REASONS, Reason, ReasonCode
from workloads.record import Status

__all__ = ["detect_coverage"]

_LOST = {
    Status.SKIPPED: ReasonCode.SKIPPED,
    Status.FAILED: ReasonCode.FAILED,
    Status.QUARANTINED: ReasonCode.QUARANTINED,
}


def detect_coverage(cells: Sequence[Cell], _config: Config) -> Iterator[Finding]:
    """Say what was lost, what is new, and what was not planned where it should have been.

    Every round under the shared set-up counts, not only those whose times are compared: a case
    that failed once has failed.
    """
    for cell in cells:
        for reason in filter(None, (_judge(cell), _missing(cell))):
            yield Finding(
                detector="coverage",
                family=cell.family,
                series=Series(cell.case, Metric.KERNEL_TIME),
                verdict=REASONS[reason.code].verdict,
                reason=reason,
                rounds=RoundIds(cell.base.ids(every=True), cell.head.ids(every=True)),
            )


def _judge(cell: Cell) -> Reason | None:
    base, head = cell.base.every, cell.head.every
    if not base and not head:
        return Reason(ReasonCode.NEVER_PLANNED, "planned in no round of either stack")
    if not base or not head:
        side = "base" if base else "head"
        return Reason(ReasonCode.ONE_SIDED, f"planned in rounds of {side} only")
    lost_base, lost_head = _lost(base), _lost(head)
    if len(lost_base) == len(base):
        return _appeared(lost_base[-1]) if len(lost_head) < len(head) else None
    if len(lost_head) == len(head):
        usual = Counter(o.record.status for o in lost_head).most_common(1)[0][0]
        return Reason(_LOST[usual], f"{usual} in head: {_why(lost_head)}")
    if lost_head:
        code = ReasonCode.FLAKY_BOTH if lost_base else ReasonCode.FLAKY
        told = f"lost in {len(lost_head)} of {len(head)} rounds of head"
        told += f" and {len(lost_base)} of {len(base)} of base" if lost_base else ""
        return Reason(code, f"{told}: {_why(lost_head)}")
    return None


def _missing(cell: Cell) -> Reason | None:
    if not cell.base.every or not cell.head.every:
        return None  # Said already, of a whole side.
    told = [
        f"{counted(len(side.lacking), 'round')} of {name} ({', '.join(side.lacking)})"
        for name, side in (("base", cell.base), ("head", cell.head))
        if side.lacking
    ]
    return Reason(ReasonCode.MISSING, f"missing from {' and '.join(told)}") if told else None


def _lost(side: Sequence[Observation]) -> list[Observation]:
    return [o for o in side if not o.measured]


def _appeared(was: Observation) -> Reason:
    return Reason(ReasonCode.APPEARED, f"was {was.record.status} in base: {_why([was])}")


def _why(lost: Sequence[Observation]) -> str:
    return lost[-1].record.reason or "no reason given"
