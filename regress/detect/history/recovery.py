"""Which changes of a series stand, and which a later release took back."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regress.detect.history.steps import PlacedStep
from regress.stats.exact import Floats

__all__ = ["Outcome", "level_by_code", "outcome_of"]


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


def outcome_of(
    at: tuple[int, int],
    level: Floats,
    steps: Sequence[PlacedStep],
    beyond: float,
    *,
    equal: bool = False,
) -> Outcome:
    """Say what became of a change.

    It is taken back by a shown step the other way, or because the newest point is shown equal to
    the last one without it; namely where the level first is within the margin of what it was.
    Without either it stands, whatever the level seems to be.

    Parameters
    ----------
    at
        The last point without the change, and the first with it.
    level
        Of the series; shape (points,); NaN where it was not measured. Points with the very same
        code should have the same level, so that noise between them ends nothing.
    steps
        All shown steps of the series.
    beyond
        Logarithm of one plus the margin.
    equal
        Whether the newest point is shown equal to the last one without the change.
    """
    before, start = at
    change = level - level[before]
    sign = 1.0 if change[start] > 0 else -1.0
    back = [s.point for s in steps if s.point > start and s.slower is (sign < 0)]
    end = None
    if back or equal:
        later = np.arange(min(back, default=start + 1), level.size)
        near = later[np.nan_to_num(sign * change[later], nan=np.inf) <= beyond]
        end = int(near[0]) if near.size else None
    depth = sign * float(np.nanmax(sign * change[start : end if end is not None else level.size]))
    return Outcome(end, depth)


def level_by_code(level: Floats, changed: NDArray[np.bool_]) -> Floats:
    """Return the mean level of all points in a row that ran the very same code.

    Parameters
    ----------
    level
        Of the series; shape (points,); NaN where it was not measured.
    changed
        Whether code can have changed at the boundary before each point but the first; shape
        (points - 1,).
    """
    stretch = np.concatenate(([0], np.cumsum(changed)))
    known = np.isfinite(level)
    sums = np.bincount(stretch[known], level[known], stretch[-1] + 1)
    counts = np.bincount(stretch[known], minlength=stretch[-1] + 1)
    with np.errstate(invalid="ignore"):
        found: Floats = np.where(known, (sums / counts)[stretch], np.nan)
    return found
