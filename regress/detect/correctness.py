"""Detector `correctness`: did the error against the reference grow beyond tolerance."""

from collections.abc import Iterator, Sequence

from regress.config import Config, ErrorRule
from regress.counted import counted
from regress.errors import UsageError
from regress.model.cell import Cell, Observation
from regress.model.finding import Change, Finding, Metric, RoundIds, Series
from regress.model.reason import REASONS, Reason, ReasonCode
from workloads.record import Case
from workloads.shape import DType
from workloads.workload import parse

__all__ = ["detect_correctness", "tolerance_of"]


def detect_correctness(cells: Sequence[Cell], config: Config) -> Iterator[Finding]:
    """Compare each side's largest error over every round under the shared set-up."""
    for cell in cells:
        base, head = _worst(cell.base.every), _worst(cell.head.every)
        reason = _judge(cell, base, head, config.error)
        if reason is not None:
            yield Finding(
                detector="correctness",
                family=cell.family,
                series=Series(cell.case, Metric.ERROR),
                verdict=REASONS[reason.code].verdict,
                reason=reason,
                rounds=RoundIds(cell.base.ids(every=True), cell.head.ids(every=True)),
                evidence=(Change("error", base, head),),
            )


def _worst(side: Sequence[Observation]) -> float | None:
    return max((o.record.error for o in side if o.record.error is not None), default=None)


def _judge(cell: Cell, base: float | None, head: float | None, rule: ErrorRule) -> Reason | None:
    unchecked = sum(o.measured and o.record.error is None for o in cell.head.every)
    if head is not None and head > min(rule.fp32, rule.bf16, rule.fp8):
        tolerance = tolerance_of(cell.case, rule)
        if head > tolerance and (base is None or head > rule.growth * base):
            before = "unknown" if base is None else f"{base:.2g}"
            told = f"relative error {head:.2g}, was {before}, tolerance {tolerance:g}"
            return Reason(ReasonCode.ERROR_GREW, told)
    if base is not None and unchecked:
        told = f"{counted(unchecked, 'round')} of head with a time but no error"
        return Reason(ReasonCode.ERROR_MISSING, told)
    return None


def tolerance_of(case: Case, rule: ErrorRule) -> float:
    """Return the tolerance for the coarsest element type of a case's workload.

    Raises
    ------
    UsageError
        If the case's workload is no slug.
    """
    try:
        shape = parse(case.workload).shape
    except ValueError as error:
        raise UsageError(str(error)) from error
    by_type = {DType.FP32: rule.fp32, DType.BF16: rule.bf16, DType.FP8: rule.fp8}
    return max(by_type[shape.dtype], by_type[shape.kv_dtype])
