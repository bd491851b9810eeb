"""Whether numbers grow along a line, and straight lines through points."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from regress.stats.exact import Floats

__all__ = ["Straight", "p_rising", "straight"]


@dataclass(frozen=True, slots=True)
class Straight:
    """A straight line through points, fitted so that relative distances are least.

    Attributes
    ----------
    slope, intercept
        Of y = intercept + slope * x.
    r_squared
        Share of the variance of y that it explains.
    worst
        Largest distance of a point from the line, relative to the line.
    """

    slope: float
    intercept: float
    r_squared: float
    worst: float


def straight(x: Sequence[float], y: Sequence[float]) -> Straight:
    """Fit a line to positive numbers, of which noise is a share and not an amount."""
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    slope, intercept = (float(c) for c in np.polyfit(xs, ys, 1, w=1 / ys))
    fitted = intercept + slope * xs
    spread = float(np.sum((ys - ys.mean()) ** 2))
    left = float(np.sum((ys - fitted) ** 2))
    return Straight(
        slope,
        intercept,
        1 - left / spread if spread else 1.0,
        float(np.max(np.abs(ys / fitted - 1))),
    )


def p_rising(values: Sequence[float]) -> float:
    """Exact one-sided p-value that numbers rise along their order (Kendall 1938).

    Ties count against it.
    """
    rising = sum(later > earlier for earlier, later in combinations(values, 2))
    counts = _arrangements(len(values))
    return float(counts[rising:].sum() / counts.sum())


@cache
def _arrangements(n: int) -> Floats:
    """Orders of n numbers by their count of rising pairs (Mahonian numbers)."""
    counts = np.ones(1)
    for size in range(2, n + 1):
        counts = np.convolve(counts, np.ones(size))
    return counts
