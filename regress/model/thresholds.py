"""The result of `thresholds`, as it is written in JSON and shown as text."""

from typing import Final

import msgspec

from regress.errors import ExitCode
from regress.model.finding import Ratio, RoundIds
from regress.model.line import Axis
from regress.model.reason import REASONS, Reason
from regress.model.shape import ShapeFinding
from regress.model.verdict import Verdict

__all__ = [
    "THRESHOLDS_SCHEMA",
    "AxisNumbers",
    "Bracket",
    "Height",
    "Numbers",
    "StackPair",
    "ThresholdFinding",
    "ThresholdsReport",
]

THRESHOLDS_SCHEMA: Final = 2


class Bracket(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two batch sizes between which something begins.

    Attributes
    ----------
    last
        The largest batch at which it has not begun; None if it has at the smallest one.
    first
        The smallest batch at which it has; None if it has not even at the largest one.
    """

    last: int | None
    first: int | None

    @property
    def exact(self) -> bool:
        """Whether no batch size lies between."""
        return self.last is not None and self.first == self.last + 1

    def surely_before(self, other: "Bracket") -> bool:
        """Whether this begins at a smaller batch size than the other, wherever both lie."""
        return self.first is not None and other.last is not None and self.first <= other.last

    def apart(self, other: "Bracket") -> bool:
        """Whether the two cannot be the same batch size."""
        return self.surely_before(other) or other.surely_before(self)


class Height(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Skewed over uniform time at the first batch that is known not to be split.

    Attributes
    ----------
    uniform_us, skewed_us
        Medians over rounds, in microseconds.
    rounds
        Rounds of the side that has fewer.
    """

    batch: int
    uniform_us: float
    skewed_us: float
    ratio: Ratio
    rounds: int


class Numbers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one stack shows along an axis; a number that its rounds do not give is None.

    Attributes
    ----------
    planned
        Where splitting ends, from the facts of the plans: free of noise.
    measured
        Where the skewed batch has become as slow as its unsplit request, from times.
    predicted
        Where the model of the stack's planner stops splitting on this GPU, if there is a model.
    ramp
        Where the skewed batch begins to cost more than the uniform one, from times.
    height
        What it costs where splitting has ended.
    batches
        Batch sizes that the rounds hold.
    rounds
        How many rounds hold any of it.
    """

    planned: Bracket | None
    measured: Bracket | None
    predicted: Bracket | None
    ramp: Bracket | None
    height: Height | None
    batches: tuple[int, ...]
    rounds: int


class AxisNumbers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One axis: what each stack shows.

    Attributes
    ----------
    base
        None without a base, or if its rounds hold nothing of the axis.
    """

    axis: Axis
    base: Numbers | None
    head: Numbers | None


class ThresholdFinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of one axis.

    Attributes
    ----------
    detector
        `moved`, `ramp`, `height`, `measured`, `predicted` or `coverage`.
    stack
        Tag of the stack it is about.
    gates
        Whether it counts for the exit code.

    Raises
    ------
    ValueError
        If the reason does not go with the verdict.
    """

    detector: str
    axis: Axis
    stack: str
    verdict: Verdict
    reason: Reason
    rounds: RoundIds
    gates: bool = True

    def __post_init__(self) -> None:
        if REASONS[self.reason.code].verdict is not self.verdict:
            msg = f"reason {self.reason.code} does not go with {self.verdict}"
            raise ValueError(msg)


class StackPair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tags of the stacks; `base` is None if only one is looked at."""

    base: str | None
    head: str


class ThresholdsReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where each planner stops splitting, and what that costs.

    Attributes
    ----------
    schema
        Counts incompatible changes of this layout.
    command
        Reproduces the report.
    axes
        The numbers, axis by axis.
    findings
        Worst first.
    shapes
        What else the head's curves look like; information.
    warnings
        What was left aside or is doubtful, one line each.
    """

    schema: int
    command: str
    stacks: StackPair
    machine: str
    setup: dict[str, str | int | float]
    verdict: Verdict
    exit_code: ExitCode
    axes: tuple[AxisNumbers, ...]
    findings: tuple[ThresholdFinding, ...]
    shapes: tuple[ShapeFinding, ...]
    warnings: tuple[str, ...]
