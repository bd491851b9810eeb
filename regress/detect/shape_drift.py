"""Detector of shapes: head over base that grows, or falls, along a line."""

from collections.abc import Iterator
from math import exp, log
from typing import Final

import numpy as np

from regress.config import ThresholdsRule
from regress.detect.threshold import ratio_between
from regress.model.line import Course, Curves
from regress.model.shape import ShapeFinding, ShapeKind
from regress.stats.trend import p_rising

__all__ = ["detect_drift"]

_FEWEST: Final = 4


def detect_drift(head: Curves, base: Curves | None, rule: ThresholdsRule) -> Iterator[ShapeFinding]:
    """Compare every course of head with base's, where both have four common points."""
    known = {_key(c): c for c in base.courses} if base else {}
    for course in head.courses:
        before = known.get(_key(course))
        if before is not None:
            found = _drift(before, course, rule)
            if found is not None:
                yield found


def _key(course: Course) -> tuple[str, str, str]:
    return course.varies, course.line, course.backend


def _drift(base: Course, head: Course, rule: ThresholdsRule) -> ShapeFinding | None:
    before = dict(base.points)
    ratios = {
        value: ratio.estimate
        for value, times in head.points
        if value in before
        and (ratio := ratio_between(before[value], times, rule.interval_alpha)) is not None
    }
    if len(ratios) < _FEWEST:
        return None
    logs = [log(r) for r in ratios.values()]
    places = np.log(np.array(list(ratios), dtype=np.float64))
    slope = float(np.polyfit(places, np.array(logs), 1)[0])
    growth = exp(slope * float(places[-1] - places[0])) - 1
    p = min(p_rising(logs), p_rising([-x for x in logs]))
    return ShapeFinding(
        kind=ShapeKind.DRIFT,
        line=head.line,
        backend=head.backend,
        mode=head.mode,
        notable=p <= rule.drift_alpha and abs(growth) > rule.drift_margin,
        message=(
            f"head over base changes by {growth:+.1%} as {head.varies} grows from "
            f"{min(ratios):,} to {max(ratios):,} ({len(ratios)} points, p = {p:.2g})"
        ),
        figures={"growth": growth, "p": p, "points": len(ratios)},
    )
