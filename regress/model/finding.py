"""A finding: what one detector says of one series, with everything needed to check it."""

from enum import StrEnum

import msgspec

from regress.model.reason import REASONS, Reason
from regress.model.verdict import Verdict
from workloads.record import Case

__all__ = [
    "Change",
    "Finding",
    "Measured",
    "Metric",
    "Ratio",
    "RoundIds",
    "Scalar",
    "Series",
    "Spread",
]


Scalar = bool | int | float | str | None


class Metric(StrEnum):
    """What is measured of a case; case and metric make a cell's series."""

    KERNEL_TIME = "kernel_time"
    """Kernel time, in microseconds."""
    PLAN_TIME = "plan_time"
    """Host time of plan(), in microseconds."""
    SPREAD = "spread"
    """Slower half of a round's pass medians over the faster half: 1 if all passes agree."""
    ERROR = "error"
    """Relative L2 error against the reference."""


class Series(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One metric of one case over rounds."""

    case: Case
    metric: Metric


class Ratio(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A ratio of times with an exact, distribution-free interval.

    Attributes
    ----------
    estimate
        Hodges-Lehmann estimate: the median of all pairwise ratios.
    low, high
        Ends of the interval; None where so few rounds bound nothing.
    confidence
        What the interval really covers, e.g. 0.905; 0 if it is unbounded.
    """

    estimate: float
    low: float | None
    high: float | None
    confidence: float


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The figures behind a finding about time.

    Attributes
    ----------
    base_us, head_us
        Median over the compared rounds, in microseconds.
    ratio
        Head over base.
    noise
        Standard deviation between processes, relative, as an upper bound; None if too few rounds
        show it.
    floor, margin
        Differences up to `floor` count as SAME, those beyond `margin` as a change; relative.
    p_slower, p_faster
        One-sided exact p-values of a shift beyond the margin.
    rounds_needed
        Rounds a side that would probably decide; None if decided or if more would not help.
    cycles
        Head over base in SM cycles (time by the clock read beside it): a ratio of times that the
        cycles do not show is one of clocks. None where clocks cannot be read.
    p_adjusted
        The smaller p-value, adjusted for all cells that were tested with it (Holm); None where
        each cell is tested alone.
    """

    base_us: float
    head_us: float
    ratio: Ratio
    noise: float | None
    floor: float
    margin: float
    p_slower: float
    p_faster: float
    rounds_needed: int | None = None
    cycles: Ratio | None = None
    p_adjusted: float | None = None


class Spread(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The figures behind a finding about passes that disagree.

    Attributes
    ----------
    base, head
        Median over rounds of the slower half of the pass medians over the faster half.
    margin
        Growth up to here is no finding; relative.
    p_noisier
        Exact one-sided p-value of a growth beyond the margin; adjusted for all cells that were
        tested with it, if there were any.
    """

    base: float
    head: float
    margin: float
    p_noisier: float


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something else that differs between the sides; a side without a value is null.

    Attributes
    ----------
    name
        What: a fact of the plan (`resolved_backend`), `kernels`, `sm_mhz`, `error`, or a warning
        (`throttled`) with the share of rounds that have it.
    """

    name: str
    base: Scalar
    head: Scalar


class RoundIds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ids of the rounds a finding rests on."""

    base: tuple[str, ...]
    head: tuple[str, ...]


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one detector says of one series.

    Attributes
    ----------
    detector
        Name of the rule that says it.
    family
        Family of the catalog, or `uncatalogued`.
    gates
        Whether it counts for the exit code; otherwise it is information, or waived.
    measured
        Figures, for findings about time.
    spread
        Figures, for findings about passes that disagree.
    evidence
        What else differs; empty if nothing does.
    waived
        Number of the waiver that accepts it; null if none does.

    Raises
    ------
    ValueError
        If the reason does not go with the verdict, or if it is waived and gates all the same.
    """

    detector: str
    family: str
    series: Series
    verdict: Verdict
    reason: Reason
    rounds: RoundIds
    gates: bool = True
    measured: Measured | None = None
    spread: Spread | None = None
    evidence: tuple[Change, ...] = ()
    waived: int | None = None

    def __post_init__(self) -> None:
        if REASONS[self.reason.code].verdict is not self.verdict:
            msg = f"reason {self.reason.code} does not go with {self.verdict}"
            raise ValueError(msg)
        if self.gates and self.waived is not None:
            msg = "a waived finding does not count"
            raise ValueError(msg)
