"""Detector of shapes: is time proportional to the KV tokens of a balanced batch."""

from collections.abc import Iterator
from statistics import median
from typing import Final

from regress.config import ThresholdsRule
from regress.model.line import Curves, Varies
from regress.model.shape import ShapeFinding, ShapeKind
from regress.stats.trend import straight

__all__ = ["detect_linearity"]

_FEWEST: Final = 3
_MILLION: Final = 1e6


def detect_linearity(
    head: Curves, _base: Curves | None, rule: ThresholdsRule
) -> Iterator[ShapeFinding]:
    """Fit a line to every course of growing KV tokens."""
    for course in head.courses:
        if course.varies is not Varies.TOKENS or len(course.points) < _FEWEST:
            continue
        tokens = [value for value, _ in course.points]
        times_us = [median(us for c in times.values() for us in c) for _, times in course.points]
        line = straight(tokens, times_us)
        slope = line.slope * _MILLION
        yield ShapeFinding(
            kind=ShapeKind.LINEARITY,
            line=course.line,
            backend=course.backend,
            mode=course.mode,
            notable=line.worst > rule.linear_margin,
            message=(
                f"{slope:.0f} us per million KV tokens, R2 {line.r_squared:.4f}, intercept "
                f"{line.intercept:.1f} us; {line.worst:.1%} off the line at worst over "
                f"{len(tokens)} sizes from {tokens[0]:,} to {tokens[-1]:,} tokens"
            ),
            figures={
                "slope_us_per_million_tokens": slope,
                "intercept_us": line.intercept,
                "r_squared": line.r_squared,
                "worst_deviation": line.worst,
                "sizes": len(tokens),
            },
        )
