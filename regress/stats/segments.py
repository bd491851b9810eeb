"""Change points of a long series: KernelCPD of `ruptures`, with a penalty that is written down."""

from importlib.util import find_spec
from math import log

import numpy as np

from regress.stats.exact import Floats

__all__ = ["MISSING", "can_segment", "segment", "spread_of"]

MISSING = "change points are left out: ruptures is not installed (pip install -e '.[history]')"
_NORMAL_DIFFERENCE = 0.9539
"""Median of the absolute difference of two standard normal numbers: sqrt(2) * 0.6745."""
_LEAST = 1e-9


def can_segment() -> bool:
    """Whether `ruptures` is installed."""
    return find_spec("ruptures") is not None


def segment(values: Floats, penalty: float) -> tuple[int, ...] | None:
    """Return the first index of every segment but the first; None without `ruptures`.

    The segmentation with the least cost is found exactly (Killick et al. 2012, PELT; here with a
    linear kernel, whose cost is the sum of squares around a segment's mean). One more segment
    must lower the cost by `penalty` * ln(n) * s^2, where s is `spread_of` the series: twice and
    three times ln(n) are the usual criteria for one more mean and its place, more than that is
    for noise whose tails are heavier than normal.

    Parameters
    ----------
    values
        Without NaN; shape (points,).
    """
    if not can_segment():
        return None
    import ruptures

    size = values.size
    cost = penalty * log(size) * max(spread_of(values), _LEAST) ** 2
    search = ruptures.KernelCPD(kernel="linear", min_size=2).fit(values.reshape(-1, 1))
    return tuple(int(end) for end in search.predict(pen=cost)[:-1])


def spread_of(values: Floats) -> float:
    """Return a robust standard deviation of the noise from neighbours: steps hardly move it."""
    return float(np.median(np.abs(np.diff(values)))) / _NORMAL_DIFFERENCE
