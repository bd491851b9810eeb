"""What a detector is given: one case with the rounds of both stacks that may be compared."""

from collections.abc import Mapping
from dataclasses import dataclass

from regress.model.finding import Metric
from workloads.record import Case, CaseRecord, Status

__all__ = ["Cell", "Observation", "Side", "value"]


@dataclass(frozen=True, slots=True)
class Observation:
    """One case in one round.

    Attributes
    ----------
    started_at
        Start of the round, UTC, ISO 8601.
    """

    round_id: str
    campaign: str
    started_at: str
    record: CaseRecord

    @property
    def measured(self) -> bool:
        """Whether the round has a time for the case."""
        return self.record.status is Status.MEASURED


def value(record: CaseRecord, metric: Metric) -> float | None:
    """Return the round's one number of a metric, or None if it has none."""
    match metric:
        case Metric.KERNEL_TIME:
            return record.time_us
        case Metric.PLAN_TIME:
            return record.plan_time_us
        case Metric.ERROR:
            return record.error


@dataclass(frozen=True, slots=True)
class Side:
    """One stack's observations of a case.

    Attributes
    ----------
    every
        All rounds under the conditions being compared that planned the case.
    chosen
        Those of them whose times are compared: one campaign, if one holds both sides.
    lacking
        Ids of rounds that should hold the case by their tier and do not.
    """

    every: tuple[Observation, ...]
    chosen: tuple[Observation, ...]
    lacking: tuple[str, ...] = ()

    def values(self, metric: Metric) -> tuple[float, ...]:
        """Return the chosen rounds' numbers of a metric, without those that have none."""
        found = (value(o.record, metric) for o in self.chosen)
        return tuple(v for v in found if v is not None)

    def ids(self, *, every: bool = False) -> tuple[str, ...]:
        """Return the ids of the chosen rounds, or of every round."""
        return tuple(o.round_id for o in (self.every if every else self.chosen))


@dataclass(frozen=True, slots=True)
class Cell:
    """A case to be judged.

    Attributes
    ----------
    block
        Whether no campaign holds both sides, so that they are compared across campaigns.
    noise
        Relative standard deviation between processes of a metric; missing if unknown.
    """

    case: Case
    family: str
    base: Side
    head: Side
    block: bool
    noise: Mapping[Metric, float]
