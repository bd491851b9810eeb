"""The rule between two samples of one number a round: slower, faster, same or undecided."""

from dataclasses import dataclass
from math import ceil, exp, inf, isfinite, log1p
from statistics import median

from msgspec.structs import replace

from regress.config import Config, TimeRule
from regress.model.cell import Pairs
from regress.model.finding import Measured, Ratio
from regress.model.reason import ReasonCode
from regress.stats.exact import Strata, p_greater, swapped
from regress.stats.shift import Shift, logs, shift

__all__ = [
    "Bounds",
    "Decision",
    "bounds",
    "decide",
    "is_small",
    "measured_of",
    "ratio_of",
    "rounds_needed",
    "rounds_of",
    "strata_of",
]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Relative differences of one cell.

    Attributes
    ----------
    floor
        Up to here is SAME.
    margin
        Beyond here is a change.
    least_margin
        The margin if the cell were not noisy; never above `margin`.
    """

    floor: float
    margin: float
    least_margin: float


@dataclass(frozen=True, slots=True)
class Decision:
    """A reason and the figures it rests on."""

    code: ReasonCode
    measured: Measured


def bounds(rule: TimeRule, noise: float | None, *, small: bool, block: bool) -> Bounds:
    """Return the bounds of a cell with this noise (None if unknown)."""
    return Bounds(
        rule.floor.of(noise, small=small, block=block),
        rule.margin.of(noise, small=small, block=block),
        rule.margin.least(small=small, block=block),
    )


def strata_of(pairs: Pairs) -> Strata:
    """Return the logarithms of both sides, stratum by stratum."""
    return [(logs(base), logs(head)) for base, head in pairs]


def decide(pairs: Pairs, rule: TimeRule, limits: Bounds, noise: float | None) -> Decision:
    """Compare two sides that have at least one stratum with values on both.

    A change is an exact one-sided Mann-Whitney test of a shift *beyond* the margin. SAME is
    equivalence: the interval lies inside the floor, and the tests show no shift beyond the least
    margin either, so that a wide floor never hides what is plain to see.
    """
    strata = strata_of(pairs)
    beyond, least = log1p(limits.margin), log1p(limits.least_margin)
    slower, faster = p_greater(strata, beyond), p_greater(swapped(strata), beyond)
    plain = min(p_greater(strata, least), p_greater(swapped(strata), least)) <= rule.alpha
    found = shift(strata, rule.equivalence_alpha)
    rounds = rounds_of(pairs)
    code = ReasonCode.WIDE_INTERVAL
    if rounds < rule.min_rounds:
        code = ReasonCode.TOO_FEW_ROUNDS
    elif slower <= rule.alpha:
        code = ReasonCode.SLOWER
    elif faster <= rule.alpha:
        code = ReasonCode.FASTER
    elif plain:
        code = ReasonCode.INSIDE_NOISE
    elif max(abs(found.low), abs(found.high)) <= log1p(limits.floor):
        code = ReasonCode.EQUIVALENT
    p_values = slower, faster
    measured = measured_of(pairs, found, noise, (limits.floor, limits.margin), p_values)
    needed = _rounds_wanted(code, found, rounds, rule, limits)
    return Decision(code, replace(measured, rounds_needed=needed))


def is_small(pairs: Pairs, config: Config) -> bool:
    """Whether any kernel time is so short that its cell has minima of its own."""
    shortest = min(v for stratum in pairs for side in stratum for v in side)
    return shortest < config.noise.small_below_us


def rounds_of(pairs: Pairs) -> int:
    """Return the numbers of the side that has fewer."""
    return min(sum(len(base) for base, _ in pairs), sum(len(head) for _, head in pairs))


def measured_of(
    pairs: Pairs,
    found: Shift,
    noise: float | None,
    limits: tuple[float, float],
    p_values: tuple[float, float],
) -> Measured:
    """Return the figures of a comparison.

    Parameters
    ----------
    limits
        Floor and margin.
    p_values
        Of slower and of faster.
    """
    base, head = ([v for stratum in side for v in stratum] for side in zip(*pairs, strict=True))
    return Measured(
        base_us=median(base),
        head_us=median(head),
        ratio=ratio_of(found),
        noise=noise,
        floor=limits[0],
        margin=limits[1],
        p_slower=p_values[0],
        p_faster=p_values[1],
    )


def ratio_of(found: Shift) -> Ratio:
    """Return a shift of logarithms as a ratio."""
    low, high = (exp(end) if isfinite(end) else None for end in (found.low, found.high))
    return Ratio(exp(found.estimate), low, high, found.confidence)


def _rounds_wanted(
    code: ReasonCode, found: Shift, rounds: int, rule: TimeRule, limits: Bounds
) -> int | None:
    if code is ReasonCode.TOO_FEW_ROUNDS:
        return rule.min_rounds
    if code is not ReasonCode.WIDE_INTERVAL:
        return None
    return rounds_needed(found, rounds, limits.floor, rule.most_rounds)


def rounds_needed(found: Shift, rounds: int, floor: float, most: int) -> int | None:
    """Estimate the rounds a side that decide: an interval shrinks with the root of their number.

    None if it would take more than `most`.
    """
    reach = max(found.high - found.estimate, found.estimate - found.low)
    gap = abs(abs(found.estimate) - log1p(floor))
    factor = reach / gap if gap else inf
    needed = rounds * factor**2
    return max(ceil(needed), rounds + 1) if needed <= most else None
