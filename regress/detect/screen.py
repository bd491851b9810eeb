"""Screening: after some rounds, is a cell shown equal, suspect, or still open.

It decides only what is measured next and what is SAME; a change is never claimed here.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import log1p

from regress.config import AbRule, Config
from regress.detect.ab import is_small
from regress.model.cell import Cell, Pairs
from regress.model.finding import Metric
from regress.stats.exact import Strata, p_greater, swapped
from regress.stats.shift import Shift, shift

__all__ = ["Limits", "Look", "Screened", "limits_of", "look"]


class Screened(StrEnum):
    """What the screening makes of a cell."""

    EQUAL = "equal"
    SUSPECT = "suspect"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Limits:
    """Relative differences of one cell, fixed before anything is compared.

    Attributes
    ----------
    floor
        Up to here times are SAME.
    margin
        Up to here times may differ without being a change.
    spread
        Up to here spreads may differ without being VARIANCE.
    """

    floor: float
    margin: float
    spread: float


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a cell found; `found` is the shift of its time."""

    outcome: Screened
    found: Shift


def limits_of(cell: Cell, pairs: Pairs, config: Config) -> Limits:
    """Return the limits of a cell with these times."""
    small = is_small(pairs, config)
    noise, spread = cell.noise.get(Metric.KERNEL_TIME), cell.noise.get(Metric.SPREAD)
    return Limits(
        floor=config.kernel_time.floor.of(noise, small=small, block=False),
        margin=config.ab.margin,
        spread=config.spread.margin.of(spread, small=small, block=False),
    )


def look(time: Strata, spread: Strata, limits: Limits, rule: AbRule) -> Look:
    """Look at a cell's times and spreads.

    Suspect comes before equal: a wide floor must not hide a shift that is plain to see.
    `spread` may be empty, `time` must have a stratum with values on both sides.
    """
    found = shift(time, rule.screen_alpha)
    beyond = log1p(limits.margin)
    p_values = [p_greater(time, beyond), p_greater(swapped(time), beyond)]
    if spread:
        p_values.append(p_greater(spread, log1p(limits.spread)))
    if min(p_values) <= rule.screen_alpha:
        return Look(Screened.SUSPECT, found)
    equal = max(abs(found.low), abs(found.high)) <= log1p(limits.floor)
    return Look(Screened.EQUAL if equal else Screened.OPEN, found)
