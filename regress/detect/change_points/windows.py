"""The history's own steps: exact tests between windows, with one error rate for all series."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np

from regress.config import HistoryRule
from regress.detect.history.steps import Found, Line, Nature, find_changes
from regress.stats.exact import Floats
from regress.stats.panel import Panel
from regress.stats.segments import spread_of

__all__ = ["find_in", "window_points"]

_NOISE_FACTOR: Final = 3.0
_LEAST, _LEAST_TESTED, _MOST = 0.01, 0.004, 0.1
"""As `kernel_time.margin` and `ab.margin`; here the noise is only known from the series."""


def window_points(series: Sequence[Floats], rule: HistoryRule) -> list[list[int]]:
    """Return the first index after each shown step."""
    places: dict[int, list[int]] = defaultdict(list)
    for step in find_in(series, rule).steps:
        places[step.series].append(step.point)
    return [sorted(places[n]) for n in range(len(series))]


def find_in(series: Sequence[Floats], rule: HistoryRule) -> Found:
    """Return the steps and drifts of series that have the same points and rounds."""
    values = np.log(np.stack(series))
    nature = np.full((values.shape[0], values.shape[1] - 1), Nature.OPEN, dtype=np.int8)
    noise = np.array([np.median([spread_of(one) for one in row.T]) for row in values])
    size = np.log1p(np.clip(_NOISE_FACTOR * noise, _LEAST, _MOST))
    beyond = np.log1p(np.clip(noise, _LEAST_TESTED, _MOST))
    return find_changes(Line(Panel((values,)), beyond, size, nature), rule)
