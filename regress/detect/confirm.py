"""Confirmation: fresh rounds of the suspects, tested as one family.

Whatever the screening did, the suspects are fixed before the confirming rounds are measured, so
the error rate of these tests is that of the whole run (data splitting). Each test is exact, and
Holm's adjustment holds however the cells depend on each other, as cells of one process do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

from regress.config import AbRule
from regress.detect.screen import Limits
from regress.model.reason import ReasonCode
from regress.stats.exact import Strata, p_greater, swapped
from regress.stats.holm import holm
from regress.stats.shift import Shift, shift

__all__ = ["Confirmed", "Suspect", "confirm"]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A cell to be confirmed: its fresh times and spreads, both with values on each side."""

    time: Strata
    spread: Strata
    limits: Limits


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What the confirmation says of a suspect.

    Attributes
    ----------
    code
        Of its time.
    found
        Shift of its time.
    p_slower, p_faster, p_noisier
        Exact one-sided p-values beyond margin or spread.
    adjusted
        The smaller of the first two, adjusted for all suspects.
    noisier
        Whether the spread is shown to have grown; `p_noisier` is adjusted likewise for that.
    """

    code: ReasonCode
    found: Shift
    p_slower: float
    p_faster: float
    p_noisier: float
    adjusted: float
    noisier: bool


def confirm(suspects: Sequence[Suspect], rule: AbRule) -> tuple[Confirmed, ...]:
    """Decide about all suspects of a run together."""
    slower = [p_greater(s.time, log1p(s.limits.margin)) for s in suspects]
    faster = [p_greater(swapped(s.time), log1p(s.limits.margin)) for s in suspects]
    noisier = [p_greater(s.spread, log1p(s.limits.spread)) for s in suspects]
    told = zip(
        suspects, slower, faster, noisier, holm(slower), holm(faster), holm(noisier), strict=True
    )
    return tuple(
        _decide(suspect, rule, (p_slow, p_fast, p_noisy), (slow, fast), noisy)
        for suspect, p_slow, p_fast, p_noisy, slow, fast, noisy in told
    )


def _decide(
    suspect: Suspect,
    rule: AbRule,
    p_values: tuple[float, float, float],
    adjusted: tuple[float, float],
    noisier: float,
) -> Confirmed:
    found = shift(suspect.time, rule.equivalence_alpha)
    slower, faster = adjusted
    if slower <= rule.family_alpha:
        code = ReasonCode.SLOWER
    elif faster <= rule.family_alpha:
        code = ReasonCode.FASTER
    elif min(p_values[:2]) <= rule.screen_alpha:
        code = ReasonCode.NOT_CONFIRMED
    elif max(abs(found.low), abs(found.high)) <= log1p(suspect.limits.floor):
        code = ReasonCode.EQUIVALENT
    else:
        code = ReasonCode.WIDE_INTERVAL
    noisy = noisier <= rule.spread_alpha
    return Confirmed(code, found, *p_values, min(adjusted), noisier=noisy)
