"""The rule between two samples of one number a round: slower, faster, same or undecided."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, inf, isfinite, log1p
from statistics import median

from regress.config import TimeRule
from regress.model.finding import Measured, Ratio
from regress.model.reason import ReasonCode
from regress.stats.exact import p_greater
from regress.stats.shift import Shift, logs, shift

__all__ = ["Bounds", "Decision", "bounds", "decide", "ratio_of"]


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


def decide(
    base_us: Sequence[float],
    head_us: Sequence[float],
    rule: TimeRule,
    limits: Bounds,
    noise: float | None,
) -> Decision:
    """Compare two sides that both have at least one value.

    A change is an exact one-sided Mann-Whitney test of a shift *beyond* the margin. SAME is
    equivalence: the interval lies inside the floor, and the tests show no shift beyond the least
    margin either, so that a wide floor never hides what is plain to see.
    """
    base, head = logs(base_us), logs(head_us)
    beyond = log1p(limits.margin)
    slower, faster = p_greater(head - beyond, base), p_greater(base - beyond, head)
    found = shift(base, head, rule.equivalence_alpha)
    least = log1p(limits.least_margin)
    plain = min(p_greater(head - least, base), p_greater(base - least, head)) <= rule.alpha
    code = ReasonCode.WIDE_INTERVAL
    if min(len(base), len(head)) < rule.min_rounds:
        code = ReasonCode.TOO_FEW_ROUNDS
    elif slower <= rule.alpha:
        code = ReasonCode.SLOWER
    elif faster <= rule.alpha:
        code = ReasonCode.FASTER
    elif plain:
        code = ReasonCode.INSIDE_NOISE
    elif max(abs(found.low), abs(found.high)) <= log1p(limits.floor):
        code = ReasonCode.EQUIVALENT
    measured = Measured(
        base_us=median(base_us),
        head_us=median(head_us),
        ratio=ratio_of(found),
        noise=noise,
        floor=limits.floor,
        margin=limits.margin,
        p_slower=slower,
        p_faster=faster,
        rounds_needed=_rounds_needed(code, found, min(len(base), len(head)), rule, limits),
    )
    return Decision(code, measured)


def ratio_of(found: Shift) -> Ratio:
    """Return a shift of logarithms as a ratio."""
    low, high = (exp(end) if isfinite(end) else None for end in (found.low, found.high))
    return Ratio(exp(found.estimate), low, high, found.confidence)


def _rounds_needed(
    code: ReasonCode, found: Shift, rounds: int, rule: TimeRule, limits: Bounds
) -> int | None:
    """Estimate the rounds a side that decide: an interval shrinks with the root of their number."""
    if code is ReasonCode.TOO_FEW_ROUNDS:
        return rule.min_rounds
    if code is not ReasonCode.WIDE_INTERVAL:
        return None
    reach = max(found.high - found.estimate, found.estimate - found.low)
    gap = abs(abs(found.estimate) - log1p(limits.floor))
    factor = reach / gap if gap else inf
    needed = rounds * factor**2
    return max(ceil(needed), rounds + 1) if needed <= rule.most_rounds else None
