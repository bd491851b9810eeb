"""A fixed number of rounds, one number a round, and one floor for all cells."""

import numpy as np
from numpy.typing import NDArray

from regress.stats.exact import Floats, p_greater

__all__ = ["medians_slower"]

_ALPHA = 0.01


def medians_slower(base: Floats, head: Floats, *, floor: float) -> NDArray[np.bool_]:
    """Return which cells an exact one-sided Mann-Whitney test calls slower, and beyond a floor."""
    before, after = (np.log(np.median(side, axis=2)) for side in (base, head))
    p_values = [p_greater([(b, h)]) for b, h in zip(before.T, after.T, strict=True)]
    moved = np.median(after, axis=0) - np.median(before, axis=0)
    slower: NDArray[np.bool_] = np.less_equal(p_values, _ALPHA) & np.greater(moved, np.log1p(floor))
    return slower
