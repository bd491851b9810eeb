"""Detector of shapes: batches that larger ones with as many tokens beat (wave quantisation)."""

from collections.abc import Iterator
from statistics import median
from typing import Final

from regress.config import ThresholdsRule
from regress.detect.threshold import above, ratio_between
from regress.model.line import Course, Curves, Varies
from regress.model.shape import ShapeFinding, ShapeKind

__all__ = ["detect_ripple"]

_FEWEST: Final = 4


def detect_ripple(
    head: Curves, _base: Curves | None, rule: ThresholdsRule
) -> Iterator[ShapeFinding]:
    """Look for batch sizes at which time rises and then falls again."""
    for course in head.courses:
        if course.varies is Varies.BATCH and len(course.points) >= _FEWEST:
            yield _found(course, rule)


def _found(course: Course, rule: ThresholdsRule) -> ShapeFinding:
    worst, where, rival, bumps = 1.0, 0, 0, []
    typical = {b: median(us for c in times.values() for us in c) for b, times in course.points}
    for number, (batch, times) in enumerate(course.points[:-1]):
        later = course.points[number + 1 :]
        faster, faster_times = min(later, key=lambda point: typical[point[0]])
        ratio = ratio_between(faster_times, times, rule.interval_alpha)
        if above(ratio, rule.ripple_above, rule.unproved):
            bumps.append(batch)
        if ratio and ratio.estimate > worst:
            worst, where, rival = ratio.estimate, batch, faster
    if where:
        message = f"at worst {worst:.2f}x at batch {where} against batch {rival}"
    else:
        message = "no batch is slower than a larger one"
    if bumps:
        message += f"; above {rule.ripple_above:.2f}x at batch {', '.join(map(str, bumps))}"
    return ShapeFinding(
        kind=ShapeKind.RIPPLE,
        line=course.line,
        backend=course.backend,
        mode=course.mode,
        notable=bool(bumps),
        message=message,
        figures={"worst": worst, "worst_batch": where, "against_batch": rival, "bumps": len(bumps)},
    )
