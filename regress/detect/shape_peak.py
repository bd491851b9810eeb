"""Detector of shapes: throughput against batch size, and its peak."""

from collections.abc import Iterator
from statistics import median
from typing import Final

from regress.config import ThresholdsRule
from regress.model.line import Course, Curves, TimesUs, Varies
from regress.model.shape import ShapeFinding, ShapeKind

__all__ = ["detect_peak", "throughput"]

_FEWEST: Final = 4
_US: Final = 1e6


def throughput(batch: int, times: TimesUs) -> float:
    """Return query tokens a second of the kernel alone: one token a request and launch."""
    return batch / median(us for c in times.values() for us in c) * _US


def detect_peak(head: Curves, _base: Curves | None, rule: ThresholdsRule) -> Iterator[ShapeFinding]:
    """Follow throughput along every course of growing batches at equal KV tokens a request."""
    for course in head.courses:
        if course.varies is Varies.REQUESTS and len(course.points) >= _FEWEST:
            yield _peak(course, rule)


def _peak(course: Course, rule: ThresholdsRule) -> ShapeFinding:
    rates = {batch: throughput(batch, times) for batch, times in course.points}
    peak = max(rates, key=rates.__getitem__)
    last = max(rates)
    fall = 1 - rates[last] / rates[peak]
    notable = fall > rule.peak_fall
    told = ", ".join(f"{rate:,.0f} at {batch}" for batch, rate in rates.items())
    what = f"peak at batch {peak}, then {fall:.1%} less" if notable else "no peak"
    return ShapeFinding(
        kind=ShapeKind.THROUGHPUT,
        line=course.line,
        backend=course.backend,
        mode=course.mode,
        notable=notable,
        message=f"{what}; tokens/s of the kernel alone: {told}",
        figures={f"tokens_per_s_at_{batch}": rate for batch, rate in rates.items()}
        | {"peak_batch": peak, "fall_after_peak": fall},
    )
