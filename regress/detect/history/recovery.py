"""Which changes of a series stand, and which a later release took back."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regress.detect.history.steps import PlacedStep
from regress.stats.exact import Floats

__all__ = ["Outcome", "Stretches", "outcome_of", "stretches_of"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a change.

    Attributes
    ----------
    end
        First point at which it is taken back; None if it stands.
    depth
        Largest level in between over the one before, as a logarithm; negative for a gain.
    """

    end: int | None
    depth: float


@dataclass(frozen=True, slots=True)
class Stretches:
    """The points of a series, those in a row that ran the very same code together.

    Attributes
    ----------
    number
        Of each point's stretch; shape (points,).
    level
        Mean of the known levels of a point's stretch; NaN where the point was not measured.
    trusted
        Points that were measured, and whose stretch has rounds enough: nothing ends elsewhere.
    """

    number: NDArray[np.int64]
    level: Floats
    trusted: NDArray[np.bool_]

    @property
    def newest(self) -> int:
        """The last trusted point; without one the last that was measured."""
        known = self.trusted if self.trusted.any() else np.isfinite(self.level)
        return int(np.flatnonzero(known)[-1])

    def around(self, point: int) -> slice:
        """Return the points of a point's stretch."""
        inside = np.flatnonzero(self.number == self.number[point])
        return slice(int(inside[0]), int(inside[-1]) + 1)


def stretches_of(
    level: Floats, rounds: NDArray[np.int64], changed: NDArray[np.bool_], least: int
) -> Stretches:
    """Put points with the same code together.

    Parameters
    ----------
    level
        Of the series; shape (points,); NaN where it was not measured.
    rounds
        Of each point.
    changed
        Whether code can have changed at the boundary before each point but the first; shape
        (points - 1,).
    least
        Rounds of the same code that are enough.
    """
    number = np.concatenate(([0], np.cumsum(changed)))
    known = np.isfinite(level)
    size = int(number[-1]) + 1
    sums = np.bincount(number[known], level[known], size)
    counts = np.bincount(number[known], minlength=size)
    with np.errstate(invalid="ignore"):
        means = np.where(known, (sums / counts)[number], np.nan)
    enough = np.bincount(number, rounds, size)[number] >= least
    return Stretches(number, means, known & enough)


def outcome_of(
    at: tuple[int, int, bool],
    alike: Stretches,
    steps: Sequence[PlacedStep],
    beyond: float,
    *,
    equal: bool = False,
) -> Outcome:
    """Say what became of a change.

    It is taken back by a shown step the other way, or because the newest trusted code is shown
    equal to that of the last point without the change; namely where later code, if it is trusted,
    first has a level within the margin of what it was. Without either it stands, whatever the level
    seems to be.

    Parameters
    ----------
    at
        The last point without the change, the first with it, and whether that is slower.
    alike
        The series.
    steps
        All shown steps of the series.
    beyond
        Logarithm of one plus the margin.
    equal
        Whether the newest trusted code is shown equal to that of the last point without the change.
    """
    before, start, slower = at
    change = alike.level - alike.level[before]
    sign = 1.0 if slower else -1.0
    back = [s.point for s in steps if s.point > start and s.slower is not slower]
    end = None
    if back or equal:
        first = max(min(back, default=start), alike.around(start).stop)
        later = np.arange(first, change.size)
        over = np.nan_to_num(sign * change[later], nan=np.inf)
        near = later[(over <= beyond) & alike.trusted[later]]
        end = int(near[0]) if near.size else None
    depth = sign * float(np.nanmax(sign * change[start:end]))
    return Outcome(end, depth)
