"""Screening: after some rounds, is a cell shown equal, suspect, or still open.

It decides only what is measured next and what is SAME; a change is never claimed here.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from math import log1p

from msgspec.structs import replace

from regress.config import AbRule, Config
from regress.detect.decide import is_small, measured_of, rounds_of, strata_of
from regress.detect.evidence import changes, cycles_ratio
from regress.detect.spread import spread_margin
from regress.model.cell import Cell, value
from regress.model.finding import Finding, Metric, RoundIds, Series
from regress.model.reason import REASONS, Reason, ReasonCode
from regress.stats.exact import Strata, p_greater, swapped
from regress.stats.shift import Shift, shift

__all__ = ["Limits", "Look", "Screened", "equal_finding", "limits_of", "look", "look_at"]


class Screened(StrEnum):
    """What the screening makes of a cell."""

    EQUAL = "equal"
    SUSPECT = "suspect"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Limits:
    """Relative differences of one cell, which do not depend on how its sides differ.

    Noise is known beforehand; whether a cell is small is seen from both sides alike.

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
    """What one look at a cell found.

    Attributes
    ----------
    found
        Shift of its time.
    p_slower, p_faster
        Exact one-sided p-values of a shift beyond the margin.
    """

    outcome: Screened
    found: Shift
    p_slower: float
    p_faster: float


def look(time: Strata, spread: Strata, limits: Limits, rule: AbRule) -> Look:
    """Look at a cell's times and spreads.

    Suspect comes before equal: a wide floor must not hide a shift that is plain to see.
    `spread` may be empty, `time` must have a stratum with values on both sides.
    """
    found = shift(time, rule.screen_alpha)
    beyond = log1p(limits.margin)
    slower, faster = p_greater(time, beyond), p_greater(swapped(time), beyond)
    noisier = p_greater(spread, log1p(limits.spread))
    if min(slower, faster, noisier) <= rule.screen_alpha:
        outcome = Screened.SUSPECT
    elif max(abs(found.low), abs(found.high)) <= log1p(limits.floor):
        outcome = Screened.EQUAL
    else:
        outcome = Screened.OPEN
    return Look(outcome, found, slower, faster)


def limits_of(cell: Cell, config: Config) -> Limits:
    """Return the limits of a cell that has times on both sides."""
    small = is_small(cell.pairs(partial(value, metric=Metric.KERNEL_TIME)), config)
    noise = cell.noise.get(Metric.KERNEL_TIME)
    return Limits(
        floor=config.kernel_time.floor.of(noise, small=small, block=cell.block),
        margin=config.ab.margin.of(noise, small=small, block=cell.block),
        spread=spread_margin(cell, config),
    )


def look_at(cell: Cell, config: Config) -> Look | None:
    """Look at a cell; None if no stratum has times on both sides."""
    time, spread = (
        strata_of(cell.pairs(partial(value, metric=metric)))
        for metric in (Metric.KERNEL_TIME, Metric.SPREAD)
    )
    return look(time, spread, limits_of(cell, config), config.ab) if time else None


def equal_finding(cell: Cell, seen: Look, config: Config) -> Finding:
    """Return the finding of a cell that a look showed equal."""
    pairs = cell.pairs(partial(value, metric=Metric.KERNEL_TIME))
    limits = limits_of(cell, config)
    noise = cell.noise.get(Metric.KERNEL_TIME)
    bounds = limits.floor, limits.margin
    measured = measured_of(pairs, seen.found, noise, bounds, (seen.p_slower, seen.p_faster))
    told = f"equal within {limits.floor:.1%} after {rounds_of(pairs)} rounds a side"
    return Finding(
        detector="ab",
        family=cell.family,
        series=Series(cell.case, Metric.KERNEL_TIME),
        verdict=REASONS[ReasonCode.EQUIVALENT].verdict,
        reason=Reason(ReasonCode.EQUIVALENT, told),
        rounds=RoundIds(cell.base.ids(), cell.head.ids()),
        measured=replace(measured, cycles=cycles_ratio(cell, config.ab.equivalence_alpha)),
        evidence=changes(cell, config.evidence),
    )
