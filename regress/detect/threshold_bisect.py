"""Where to look next for the batch size at which splitting ends: a bisection as a pure function."""

from collections.abc import Mapping

from regress.config import ThresholdsRule
from regress.model.thresholds import Bracket

__all__ = ["narrowed", "next_batches"]


def narrowed(known: Mapping[int, bool], rule: ThresholdsRule) -> Bracket:
    """Return where splitting ends, from whether it happens at some batch sizes.

    If it ends several times it is the first end; batches outside of the range are not looked at.
    """
    last: int | None = None
    for batch in sorted(known):
        if not rule.smallest_batch <= batch <= rule.largest_batch:
            continue
        if not known[batch]:
            return Bracket(last, batch)
        last = batch
    return Bracket(last, None)


def next_batches(
    known: Mapping[int, bool], guess: int | None, rule: ThresholdsRule
) -> tuple[int, ...]:
    """Return the batch sizes to try next; none if it is settled or none are left to spend.

    Parameters
    ----------
    known
        Whether the longest request is split, by batch size.
    guess
        Where the threshold is expected: it and the size before are tried first, so that a right
        guess takes one step. After a wrong one the rest of the range is halved, or, if what is
        left to spend does not reach for that, so much of it on the guess's side as it does.
    """
    left = rule.most_batches - len(known)
    found = narrowed(known, rule)
    low = rule.smallest_batch - 1 if found.last is None else found.last
    high = rule.largest_batch + 1 if found.first is None else found.first
    if high - low <= 1 or left <= 0:
        return ()
    if guess is not None and low < guess <= high:
        return tuple(b for b in (guess - 1, guess) if low < b < high)[:left]
    reach = min((high - low) // 2, 1 << (left - 1))
    return (high - reach,) if guess is not None and guess > high else (low + reach,)
