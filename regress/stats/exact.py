"""The exact null distribution of the Mann-Whitney statistic, and a test that uses it.

Everything takes strata: pairs of (base, head) arrays of logarithms that may be compared only
with each other, such as the rounds of one campaign. Most comparisons have one stratum.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Sizes", "Strata", "critical", "null_cdf", "p_greater", "sizes_of", "swapped"]

Floats = NDArray[np.float64]
Strata = Sequence[tuple[Floats, Floats]]
"""(base, head) of each stratum."""
Sizes = tuple[tuple[int, int], ...]
"""Numbers of values of (base, head) of each stratum."""


def sizes_of(strata: Strata) -> Sizes:
    """Return how many values each stratum has."""
    return tuple((base.size, head.size) for base, head in strata)


def swapped(strata: Strata) -> Strata:
    """Return the strata with base and head exchanged."""
    return [(head, base) for base, head in strata]


@cache
def null_cdf(sizes: Sizes) -> Floats:
    """P(U <= u) from u = 0 on, when in each stratum all values come from one distribution.

    U sums the Mann-Whitney statistics of the strata; its distribution is the convolution of
    theirs (van Elteren 1960 with equal weights, exact). Made here because importing `scipy.stats`
    costs 0.8 s, more than all judging; the tests compare it with scipy's.
    """
    counts = np.ones(1)
    for n, m in sizes:
        counts = np.convolve(counts, _counts(n, m))
    cdf: Floats = np.cumsum(counts) / counts.sum()
    return cdf


@cache
def _counts(n: int, m: int) -> Floats:
    """Arrangements by their U: coefficients of the Gaussian binomial (Mann and Whitney 1947)."""
    counts = np.zeros(n * m + 1)
    counts[0] = 1.0
    for i in range(1, n + 1):
        counts[m + i :] -= counts[: -m - i].copy()  # multiply by 1 - q^(m+i)
        rows = -(-counts.size // i)  # divide by 1 - q^i
        padded = np.zeros(rows * i)
        padded[: counts.size] = counts
        counts = padded.reshape(rows, i).cumsum(axis=0).ravel()[: counts.size]
    return counts


@cache
def critical(sizes: Sizes, alpha: float) -> int | None:
    """Return the largest u with P(U <= u) <= alpha, or None if even u = 0 is likelier."""
    last = int(np.searchsorted(null_cdf(sizes), alpha, side="right")) - 1
    return last if last >= 0 else None


def p_greater(strata: Strata, beyond: float = 0.0) -> float:
    """One-sided exact p-value that head is above base by more than `beyond`.

    Ties count against the shift, so that the test stays conservative with quantised times.
    """
    wins = sum(
        int(np.count_nonzero(head[:, None] - beyond > base[None, :])) for base, head in strata
    )
    cdf = null_cdf(sizes_of(strata))
    return float(cdf[cdf.size - 1 - wins])
