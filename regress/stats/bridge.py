"""Comparing two stacks that share no stratum, through a reference that each has one with.

It rests on the ratio to the reference being the same in every stratum, as cards of one model and
campaigns of one set-up are taken to have.
"""

import numpy as np

from regress.stats.exact import Floats, Strata, p_greater, swapped
from regress.stats.shift import Shift, shift

__all__ = ["bridged_p", "bridged_shift"]


def bridged_shift(base: Strata, head: Strata, alpha: float) -> Shift:
    """Estimate the shift from base to head; each end of the interval errs with at most `alpha`.

    Parameters
    ----------
    base, head
        Strata of (reference, base) and of (reference, head).
    """
    one, other = shift(base, alpha / 2), shift(head, alpha / 2)
    low, high = other.low - one.high, other.high - one.low
    bounded = bool(np.isfinite(low) and np.isfinite(high))
    return Shift(other.estimate - one.estimate, low, high, 1 - 2 * alpha if bounded else 0.0)


def bridged_p(base: Strata, head: Strata, beyond: float) -> float:
    """One-sided p-value that head is above base by more than `beyond`.

    For any place c between them, "base is not below c" and "head is not above c by more than
    `beyond`" (both against the reference) cannot both be false if the null hypothesis is true;
    each p-value is monotone in c. So twice the smallest larger one of the two is a p-value.
    """
    places = np.unique(np.concatenate([_gaps(base, 0.0), _gaps(head, beyond)]))
    best = 1.0
    first, last = 0, places.size - 1
    while first <= last:  # One p-value falls along c, the other rises: the best is where they meet.
        middle = (first + last) // 2
        place = float(places[middle])
        below = p_greater(swapped(base), -np.nextafter(place, np.inf))
        above = p_greater(head, place + beyond)
        best = min(best, 2 * max(below, above))
        first, last = (middle + 1, last) if below > above else (first, middle - 1)
    return best


def _gaps(strata: Strata, beyond: float) -> Floats:
    pairs = [(head[:, None] - base[None, :]).ravel() - beyond for base, head in strata]
    return np.concatenate(pairs) if pairs else np.zeros(0)
