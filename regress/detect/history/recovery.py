"""Which changes of a series stand, and which a later release took back."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regress.detect.history.steps import PlacedStep
from regress.stats.exact import Floats

__all__ = ["Outcome", "outcome_of"]


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
    start: int, before: int, level: Floats, steps: Sequence[PlacedStep], beyond: float
) -> Outcome:
    """Say what became of a change that begins at point `start`; `before` is the last point without.

    It is taken back by a shown step the other way, once the level is within the margin of what it
    was. Without such a step it stands, whatever the level seems to be.

    Parameters
    ----------
    level
        Of the series; shape (points,); NaN where it was not measured.
    steps
        All shown steps of the series.
    beyond
        Logarithm of one plus the margin.
    """
    change = level - level[before]
    sign = 1.0 if change[start] > 0 else -1.0
    back = [s.point for s in steps if s.point > start and s.slower is (sign < 0)]
    end = None
    if back:
        later = np.arange(min(back), level.size)
        near = later[np.nan_to_num(sign * change[later], nan=np.inf) <= beyond]
        end = int(near[0]) if near.size else None
    depth = sign * float(np.nanmax(sign * change[start : end if end is not None else level.size]))
    return Outcome(end, depth)
