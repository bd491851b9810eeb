"""What a detector is given: one case with the rounds of both stacks that may be compared."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean, median

from regress.model.finding import Metric
from workloads.record import Case, CaseRecord, Status

__all__ = ["Cell", "Observation", "Pairs", "Side", "cycles", "value"]

Pairs = tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]
"""(base, head) numbers of each stratum: one a round, to be compared within the stratum only."""


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
        case Metric.SPREAD:
            return _spread(record.kernel_us)
        case Metric.ERROR:
            return record.error


def _spread(kernel_us: tuple[float, ...]) -> float | None:
    """Return the mean of the slower half of the pass medians over that of the faster half."""
    half = len(kernel_us) // 2
    ordered = sorted(kernel_us)
    return fmean(ordered[-half:]) / fmean(ordered[:half]) if half else None


def cycles(record: CaseRecord) -> float | None:
    """Return the round's one kernel time in SM cycles (microseconds by MHz), None without clocks.

    As for the time it is the median over passes, each with the clock read right after it.
    """
    if not record.kernel_us or len(record.sm_mhz) != len(record.kernel_us):
        return None
    found = median(us * mhz for us, mhz in zip(record.kernel_us, record.sm_mhz, strict=True))
    return found or None


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
        Relative standard deviation between processes of a metric, as an upper bound; missing if
        unknown.
    """

    case: Case
    family: str
    base: Side
    head: Side
    block: bool
    noise: Mapping[Metric, float]

    def pairs(self, read: Callable[[CaseRecord], float | None]) -> Pairs:
        """Return what `read` gives of each compared round, stratum by stratum.

        A campaign is a stratum, if both sides have numbers in it. Sides that share no campaign
        are compared as one block.
        """
        keys = {"": None} if self.block else dict.fromkeys(o.campaign for o in self.base.chosen)
        strata = (
            (_numbers(self.base, key or None, read), _numbers(self.head, key or None, read))
            for key in keys
        )
        return tuple((base, head) for base, head in strata if base and head)


def _numbers(
    side: Side, campaign: str | None, read: Callable[[CaseRecord], float | None]
) -> tuple[float, ...]:
    if campaign is None:
        found = [read(o.record) for o in side.chosen]
    else:
        found = [read(o.record) for o in side.chosen if o.campaign == campaign]
    return tuple([number for number in found if number is not None])
