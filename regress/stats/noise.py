"""How much a number differs between processes that should agree."""

from collections.abc import Iterable
from math import log, sqrt
from statistics import fmean

__all__ = ["pooled_sd"]


def pooled_sd(groups: Iterable[Iterable[float]], min_degrees: int) -> float | None:
    """Relative standard deviation within groups: the pooled one of the logarithms.

    Groups may lie apart, as only distances from a group's own mean count. It is not a robust
    estimate on purpose: a cell whose processes fall into two modes is noisy, and an estimate that
    sets the rarer mode aside as outliers makes a floor that the cell then crosses by itself.
    None below `min_degrees` degrees of freedom (values less groups).
    """
    squares, degrees = 0.0, 0
    for group in groups:
        logs = [log(v) for v in group]
        if logs:
            mean = fmean(logs)
            squares += sum((x - mean) ** 2 for x in logs)
            degrees += len(logs) - 1
    return sqrt(squares / degrees) if degrees >= max(min_degrees, 1) else None
