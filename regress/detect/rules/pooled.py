"""Rules on pooled samples, which take the passes of all rounds as independent."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from regress.stats.exact import Floats

__all__ = ["ranks_slower", "ratio_slower", "welch_slower"]

_EXACT_UP_TO: Final = 20
"""Values a side up to which Mann-Whitney is computed exactly."""


def ranks_slower(base: Floats, head: Floats, *, alpha: float) -> NDArray[np.bool_]:
    """Return which cells a two-sided Mann-Whitney test calls different, and slower."""
    from scipy.stats import mannwhitneyu

    before, after = _pooled(base), _pooled(head)
    exact = before.shape[1] <= _EXACT_UP_TO
    found = mannwhitneyu(after, before, axis=1, method="exact" if exact else "asymptotic")
    slower: NDArray[np.bool_] = _is_slower(before, after) & np.less_equal(found.pvalue, alpha)
    return slower


def welch_slower(base: Floats, head: Floats, *, alpha: float) -> NDArray[np.bool_]:
    """Return which cells a two-sided Welch t test calls different, and slower."""
    from scipy.stats import ttest_ind

    before, after = _pooled(base), _pooled(head)
    found = ttest_ind(after, before, axis=1, equal_var=False)
    slower: NDArray[np.bool_] = _is_slower(before, after) & np.less_equal(found.pvalue, alpha)
    return slower


def ratio_slower(base: Floats, head: Floats, *, factor: float) -> NDArray[np.bool_]:
    """Return of which cells the ratio of medians is above `factor`."""
    before, after = (np.median(_pooled(side), axis=1) for side in (base, head))
    slower: NDArray[np.bool_] = np.greater(after, factor * before)
    return slower


def _pooled(side: Floats) -> Floats:
    """Return all passes of each cell, (cells, rounds times passes)."""
    pooled: Floats = side.transpose(1, 0, 2).reshape(side.shape[1], -1)
    return pooled


def _is_slower(before: Floats, after: Floats) -> NDArray[np.bool_]:
    return np.greater(np.median(after, axis=1), np.median(before, axis=1))
