"""Where to look next for the batch size at which splitting ends: a bisection as a pure function."""

from collections.abc import Mapping

from regress.model.thresholds import Bracket

__all__ = ["narrowed", "next_batches"]


def narrowed(known: Mapping[int, bool], smallest: int, largest: int) -> Bracket:
    """Return where splitting ends, from whether it happens at some batch sizes.

    If it ends several times it is the first end; batches outside of the range are not looked at.
    """
    last: int | None = None
    for batch in sorted(known):
        if not smallest <= batch <= largest:
            continue
        if not known[batch]:
            return Bracket(last, batch)
        last = batch
    return Bracket(last, None)


def next_batches(
    known: Mapping[int, bool], guess: int | None, smallest: int, largest: int
) -> tuple[int, ...]:
    """Return the batch sizes to try next; none once the threshold is exact or out of range.

    Parameters
    ----------
    known
        Whether the longest request is split, by batch size.
    guess
        Where the threshold is expected: it and the size before are tried first, so that a right
        guess takes one step. After a wrong one the rest of the range is halved.
    smallest, largest
        The range.
    """
    found = narrowed(known, smallest, largest)
    low = smallest - 1 if found.last is None else found.last
    high = largest + 1 if found.first is None else found.first
    if high - low <= 1:
        return ()
    if guess is not None and low < guess <= high:
        return tuple(b for b in (guess - 1, guess) if low < b < high)
    return ((low + high) // 2,)
