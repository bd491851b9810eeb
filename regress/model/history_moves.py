"""What `history` says of thresholds: where a planner stops splitting in another place."""

from enum import StrEnum

import msgspec

from regress.model.line import Axis
from regress.model.thresholds import Bracket

__all__ = ["Number", "ThresholdMove"]


class Number(StrEnum):
    """Which number of an axis, and how it is known; as in the result of `thresholds`."""

    PLANNED = "planned"
    """Where splitting ends, by facts of plans."""
    MEASURED = "measured"
    """Where splitting ends, by times."""
    PREDICTED = "predicted"
    """Where splitting ends, by the model of the planner."""
    RAMP = "ramp"
    """Where a skewed batch begins to cost more than a uniform one, by times."""


class ThresholdMove(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A number of an axis that cannot be the same in two releases. Information: it never gates.

    Attributes
    ----------
    axis
        Rounds hold it, or, if the number is predicted, at least its shape on its backend.
    before, after
        The last release that surely has the old number, and the first that surely has the new.
    base, head
        What is known of the number in these two; they have no batch size in common.
    """

    axis: Axis
    number: Number
    before: str
    after: str
    base: Bracket
    head: Bracket
