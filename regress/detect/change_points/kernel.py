"""The history's segmentation of a long series."""

from collections.abc import Sequence

import numpy as np

from regress.config import HistoryRule
from regress.stats.exact import Floats
from regress.stats.segments import segment

__all__ = ["kernel_points"]


def kernel_points(series: Sequence[Floats], rule: HistoryRule) -> list[list[int]]:
    """Return the first index of every segment but the first."""
    medians = (np.log(np.median(values, axis=1)) for values in series)
    return [list(segment(values, rule.penalty) or ()) for values in medians]
