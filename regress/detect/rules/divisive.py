"""E-divisive: a change point in the series of process medians, base before head.

The energy statistic of Matteson and James (2014) with its permutation test, as the change-point
tools of continuous benchmarking use it (Daly et al. 2020), for the strongest change point alone.
Their packages pin old versions of numpy, so the statistic is computed here.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from regress.stats.exact import Floats

__all__ = ["divisive_slower", "energy"]

_PERMUTATIONS: Final = 99
_SEED: Final = 0


def divisive_slower(base: Floats, head: Floats, *, alpha: float) -> NDArray[np.bool_]:
    """Return which cells have a change point after which they are slower."""
    series = np.concatenate([np.median(side, axis=2) for side in (base, head)]).T
    distances = np.abs(series[:, :, None] - series[:, None, :])
    scores = energy(distances)
    places = scores.argmax(axis=1) + 1
    strongest = scores.max(axis=1)
    rng = np.random.default_rng(_SEED)
    reached = np.ones_like(strongest)
    for _ in range(_PERMUTATIONS):
        order = rng.permutation(series.shape[1])
        reached += energy(distances[:, order][:, :, order]).max(axis=1) >= strongest
    slower = [np.median(s[p:]) > np.median(s[:p]) for s, p in zip(series, places, strict=True)]
    found: NDArray[np.bool_] = np.array(slower) & np.less_equal(
        reached / (_PERMUTATIONS + 1), alpha
    )
    return found


def energy(distances: Floats) -> Floats:
    """Return the scaled energy distance at every split; (cells, n, n) gives (cells, n - 1).

    A part with a single value has no distance within.
    """
    size = distances.shape[1]
    left = np.arange(1, size)
    right = size - left
    sums = distances.cumsum(axis=1).cumsum(axis=2)
    within_left = sums[:, left - 1, left - 1]
    rows = sums[:, left - 1, size - 1]
    between = rows - within_left
    within_right = sums[:, size - 1, size - 1][:, None] - rows - between
    gap = (
        2 * between / (left * right)
        - within_left / np.maximum(left * (left - 1), 1)
        - within_right / np.maximum(right * (right - 1), 1)
    )
    found: Floats = gap * left * right / size
    return found
