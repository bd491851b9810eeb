"""How much a number differs between processes that should agree."""

from collections.abc import Iterable
from math import log, sqrt
from statistics import NormalDist, fmean

__all__ = ["pooled_sd", "upper_sd"]


def pooled_sd(groups: Iterable[Iterable[float]]) -> tuple[float, int]:
    """Relative standard deviation within groups, and its degrees of freedom.

    It is the pooled one of the logarithms. Groups may lie apart, as only distances from a group's
    own mean count. It is not a robust estimate on purpose: a cell whose processes fall into two
    modes is noisy, and an estimate that sets the rarer mode aside as outliers makes a floor that
    the cell then crosses by itself. Without a degree of freedom (values less groups) it is 0.
    """
    squares, degrees = 0.0, 0
    for group in groups:
        logs = [log(v) for v in group]
        if logs:
            mean = fmean(logs)
            squares += sum((x - mean) ** 2 for x in logs)
            degrees += len(logs) - 1
    return (sqrt(squares / degrees) if degrees else 0.0), degrees


def upper_sd(sd: float, degrees: int, confidence: float) -> float:
    """Upper confidence bound of a standard deviation estimated with these degrees of freedom.

    From the chi-square distribution of the estimate, whose quantile is approximated by its cube
    root being normal (Wilson and Hilferty 1931; within 1 % from 5 degrees on).
    """
    part = 2 / (9 * degrees)
    quantile = degrees * (1 - part + NormalDist().inv_cdf(1 - confidence) * sqrt(part)) ** 3
    return sd * sqrt(degrees / quantile)
