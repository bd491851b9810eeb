"""The exact null distribution of the Mann-Whitney statistic, and a test that uses it."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["critical", "null_cdf", "p_greater"]

Floats = NDArray[np.float64]


@cache
def null_cdf(n: int, m: int) -> Floats:
    """P(U <= u) for u = 0 … n·m, when n and m numbers come from one continuous distribution.

    The counts are the coefficients of the Gaussian binomial of n + m over n (Mann and Whitney
    1947). Made here because importing `scipy.stats` costs 0.8 s, more than all judging; the
    tests compare it with scipy's.
    """
    counts = np.zeros(n * m + 1)
    counts[0] = 1.0
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):  # multiply by 1 - q^(m+i)
            counts[u] -= counts[u - m - i]
        for u in range(i, n * m + 1):  # divide by 1 - q^i
            counts[u] += counts[u - i]
    cdf: Floats = np.cumsum(counts) / counts.sum()
    return cdf


def critical(n: int, m: int, alpha: float) -> int | None:
    """Return the largest u with P(U <= u) <= alpha, or None if even u = 0 is likelier."""
    last = int(np.searchsorted(null_cdf(n, m), alpha, side="right")) - 1
    return last if last >= 0 else None


def p_greater(high: Floats, low: Floats) -> float:
    """One-sided exact p-value that `high` is shifted above `low`.

    Ties count against the shift, so that the test stays conservative with quantised times.
    """
    wins = int(np.count_nonzero(high[:, None] > low[None, :]))
    return float(null_cdf(len(high), len(low))[high.size * low.size - wins])
