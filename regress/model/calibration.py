"""What a calibration found: noise, error rates and power, as it is stored and shown."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from regress.model.finding import Metric
from workloads.record import Case

__all__ = [
    "CALIBRATION_SCHEMA",
    "Calibration",
    "CampaignUsed",
    "CellNoise",
    "ErrorRate",
    "GateTrace",
    "Group",
    "NoiseFigure",
    "NullRate",
    "Offsets",
    "Power",
    "Rate",
    "RuleRate",
    "Scenario",
    "Target",
    "Uniformity",
]

CALIBRATION_SCHEMA: Final = 1


class _Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Group(StrEnum):
    """Kinds of cells that are told apart."""

    QUIET = "quiet"
    """Not small, with the least floor."""
    SMALL = "small"
    """Faster than `noise.small_below_us`, with the least floor of such cells."""
    NOISY = "noisy"
    """Its noise raises its floor."""


class Scenario(StrEnum):
    """Which cells a change was planted in."""

    ALONE = "alone"
    """One cell, each in its turn: what one regression among cells that stay is worth."""
    FAMILY = "family"
    """All cells of one family."""
    ALL = "all"
    """Every cell: the most suspects that share one error rate."""


class Rate(_Told, frozen=True):
    """How often something happened in simulated gates.

    Attributes
    ----------
    low, high
        One-sided exact bounds at 95 % each (Clopper and Pearson). They are about the simulation:
        how few processes were recorded is no part of them.
    """

    hits: int
    of: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """Hits as a part of all; 0 of none."""
        return self.hits / self.of if self.of else 0.0


class CampaignUsed(_Told, frozen=True):
    """A campaign whose rounds tell noise.

    Attributes
    ----------
    rounds
        By stack.
    card
        Cards by their last characters.
    drawn_from
        Rounds of the twins that gates are drawn from; 0 if they are too few.
    noise
        Median over the tier's cells of the standard deviation of kernel time, relative; None
        without a cell that has enough rounds.
    """

    campaign: str
    rounds: dict[str, int]
    card: str
    drawn_from: int
    noise: float | None


class NoiseFigure(_Told, frozen=True):
    """Noise of one metric of a case.

    Attributes
    ----------
    sd
        Relative standard deviation between processes, pooled within campaign and stack.
    degrees
        Degrees of freedom behind it.
    upper
        Its upper bound at `noise.confidence`; floors and margins are made of it.
    """

    sd: float
    degrees: int
    upper: float


class CellNoise(_Told, frozen=True):
    """What is known of a case without comparing anything.

    Attributes
    ----------
    time_us
        Median kernel time over all rounds.
    floor
        Of its kernel time.
    noise
        By metric; those with too few rounds are missing.
    by_campaign
        Standard deviation of kernel time in each campaign that has enough rounds.
    detectable_80, detectable_95
        Slow-down that 80 % and 95 % of the simulated gates call REGRESSION, relative, if the case
        alone is slower; None if not simulated, or if even four floors are not enough.
    """

    case: Case
    family: str
    group: Group
    time_us: float
    floor: float
    noise: dict[Metric, NoiseFigure]
    by_campaign: dict[str, float]
    detectable_80: float | None = None
    detectable_95: float | None = None


class NullRate(_Told, frozen=True):
    """What gates said in which nothing had changed.

    Attributes
    ----------
    draws
        `pooled`: both sides from all rounds of the twins. `across`: base from one twin and head
        from the other, so that their offset in this campaign, or what so few rounds make look
        like one, counts against the gate.
    campaign
        Empty for all together.
    regression, improvement, variance
        Gates with any such verdict.
    alarm
        Gates with REGRESSION or VARIANCE.
    undecided
        Gates with an UNDECIDED cell that is not small.
    suspects
        Gates that measured a confirmation.
    mean_suspects
        Cells confirmed in a gate, on average over all gates.
    mean_rounds
        Last look of the screening, in rounds a side, on average.
    mean_seconds, worst_seconds
        GPU seconds of a gate by what recorded rounds took: mean, and 95th percentile.
    """

    draws: str
    campaign: str
    gates: int
    regression: Rate
    improvement: Rate
    variance: Rate
    alarm: Rate
    undecided: Rate
    suspects: Rate
    mean_suspects: float
    mean_rounds: float
    mean_seconds: float
    worst_seconds: float


class Power(_Told, frozen=True):
    """How often a planted change was found.

    Attributes
    ----------
    planted
        `+1%` and so on: head slower by that; `1.5 floors`: by one and a half times the cell's own
        floor; `1/3 of passes +5%`: that share of the passes slower.
    group
        A family, or one of `Group`.
    found
        Cells times gates called REGRESSION (or VARIANCE, if passes were slowed). Cells of a gate
        are correlated, so the bounds are narrower than the truth.
    """

    planted: str
    scenario: Scenario
    group: str
    found: Rate


class Offsets(_Told, frozen=True):
    """How far apart byte-identical stacks are, as measured (nothing is drawn).

    Attributes
    ----------
    campaign
        Empty for all campaigns together, each a stratum.
    median_offset
        Median over cells of the size of the Hodges-Lehmann estimate, relative.
    median_reach
        Median over cells of half the 90 % interval: what sampling alone makes of no offset.
    beyond_margin
        Cells whose estimate is beyond the margin of `ab`.
    shown_beyond
        Cells whose whole interval is: an offset that the margin does not cover.
    shown
        Cells whose interval leaves out zero; 10 % would by chance.
    worst, worst_offset, worst_low, worst_high
        The cell with the largest estimate, head over base less 1.
    """

    campaign: str
    rounds: tuple[int, int]
    cells: int
    median_offset: float
    median_reach: float
    beyond_margin: int
    shown_beyond: int
    shown: int
    worst: Case
    worst_offset: float
    worst_low: float | None
    worst_high: float | None


class Uniformity(_Told, frozen=True):
    """Whether p-values of A/A comparisons are uniform, as those of a valid test are.

    Attributes
    ----------
    campaign
        Empty for all together.
    distance
        Largest distance of their distribution from the uniform one (Kolmogorov-Smirnov).
    p_value
        Share of relabellings (whole rounds moved between the twins within a campaign) with at
        least that distance: so cells of one process, and ties, count as they should.
    below_5, below_1
        Share of p-values up to 0.05 and 0.01.
    """

    campaign: str
    p_values: int
    distance: float
    p_value: float
    below_5: float
    below_1: float


class RuleRate(_Told, frozen=True):
    """One rule on the same simulated rounds.

    Attributes
    ----------
    rounds
        A side.
    cells, gates
        False alarms: cells, and whole gates with any, called slower where nothing changed.
    power
        By planted change.
    """

    rule: str
    rounds: str
    cells: Rate
    gates: Rate
    power: dict[str, Rate]


class Target(_Told, frozen=True):
    """Something that the suite is meant to reach.

    Attributes
    ----------
    met
        None where there is nothing to measure it on.
    """

    name: str
    required: str
    found: str
    met: bool | None


class GateTrace(_Told, frozen=True):
    """One simulated null gate, to compute again.

    Attributes
    ----------
    suspects
        Cells that were confirmed.
    rounds
        Last look, in rounds a side.
    codes
        Reason codes of the confirmation, counted.
    """

    number: int
    campaign: str
    suspects: int
    rounds: int
    codes: dict[str, int]


class Calibration(_Told, frozen=True):
    """All that a calibration found.

    Attributes
    ----------
    schema
        Counts incompatible changes of this layout.
    command
        Computes it again.
    setup
        What all rounds share.
    thresholds
        Digest of the configuration that the gates were decided with.
    seed, gates
        Of the simulation: equal ones give equal results.
    tier
        Cells of the simulated gates.
    twins
        Byte-identical stacks.
    rounds
        Ids of all rounds used, also of other stacks, whose rounds tell noise.
    until
        Start of the latest of them, UTC, ISO 8601: later rounds may be judged by it.
    hidden
        Power against passes that are slow now and then.
    trace
        The first null gates.
    """

    schema: int
    command: str
    machine: str
    setup: dict[str, str | int | float]
    thresholds: str
    seed: int
    gates: int
    tier: str
    twins: tuple[str, ...]
    rounds: tuple[str, ...]
    until: str
    campaigns: tuple[CampaignUsed, ...]
    cells: tuple[CellNoise, ...]
    null: tuple[NullRate, ...]
    power: tuple[Power, ...]
    hidden: tuple[Power, ...]
    offsets: tuple[Offsets, ...]
    uniformity: tuple[Uniformity, ...]
    rules: tuple[RuleRate, ...]
    targets: tuple[Target, ...]
    trace: tuple[GateTrace, ...]
    warnings: tuple[str, ...]

    @property
    def noise(self) -> Mapping[Case, Mapping[Metric, float]]:
        """Upper bounds of noise by case and metric; made anew at each call."""
        return {
            cell.case: {metric: figure.upper for metric, figure in cell.noise.items()}
            for cell in self.cells
        }


class ErrorRate(_Told, frozen=True):
    """What a report says of its own error rate.

    Attributes
    ----------
    command
        `ab` or `check`.
    rounds, campaigns
        That the simulated gates were drawn from.
    rounds_a_side
        Of the simulated gates, e.g. `4 to 12, then 10`.
    tier
        Of the simulated gates.
    alarms
        Gates with a false REGRESSION (for `ab` also VARIANCE) where nothing changed.
    power
        By planted change: for `ab` of quiet cells (`Group.QUIET`), for `check` of all cells.
    detectable
        Median over cells of the slow-down found in 80 % of gates, relative; None for `check`.
    uncalibrated
        Cells of the report whose noise the calibration does not know.
    same_thresholds
        Whether the report was judged with the configuration of the simulation.
    """

    command: str
    rounds: int
    campaigns: int
    rounds_a_side: str
    tier: str
    alarms: Rate
    power: dict[str, Rate]
    detectable: float | None
    uncalibrated: int
    same_thresholds: bool
