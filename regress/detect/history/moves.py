"""Where something that is only known to lie within brackets has moved for certain."""

from collections.abc import Iterator, Sequence

from regress.model.thresholds import Bracket

__all__ = ["moves_of"]


def moves_of(brackets: Sequence[Bracket | None]) -> Iterator[tuple[int, int]]:
    """Yield (last release before, first release after) of as few moves as explain the brackets.

    Only brackets that have no batch size in common show a move. It lies anywhere between the two:
    a release in between, if there is one, fits both.

    Parameters
    ----------
    brackets
        One a release, in order of their time; None where nothing is known.
    """
    alike: list[tuple[int, Bracket]] = []
    for point, bracket in enumerate(brackets):
        if bracket is None:
            continue
        # Brackets of which any two share a batch size all share one, so pairs are enough.
        apart = [before for before, known in alike if known.apart(bracket)]
        if apart:
            yield apart[-1], point
            alike = []
        alike.append((point, bracket))
