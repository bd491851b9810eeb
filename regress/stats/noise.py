"""How much a number differs between processes that should agree."""

from collections.abc import Iterable
from itertools import combinations, starmap
from math import log
from statistics import median
from typing import Final

__all__ = ["shamos"]

_NORMAL: Final = 1.048358
"""Makes the estimate consistent for normal data (Rousseeuw and Croux 1993)."""


def shamos(groups: Iterable[Iterable[float]], min_pairs: int) -> float | None:
    """Relative standard deviation within groups, by the median of pairwise log differences.

    Shamos's estimator: 86 % efficient for normal data, and up to 29 % of outliers cannot carry it
    away. Pairs are only made inside a group, so groups may lie apart. None below `min_pairs`.
    """
    pairs = [
        difference
        for group in groups
        for difference in starmap(_distance, combinations([log(v) for v in group], 2))
    ]
    return _NORMAL * median(pairs) if len(pairs) >= max(min_pairs, 1) else None


def _distance(a: float, b: float) -> float:
    return abs(a - b)
