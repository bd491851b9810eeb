"""How often simulated gates say something, right or wrong."""

from enum import StrEnum

import msgspec

from workloads.record import Case

__all__ = [
    "ErrorRate",
    "Group",
    "NullRate",
    "Offsets",
    "Power",
    "Rate",
    "RuleRate",
    "Scenario",
    "Told",
    "Uniformity",
]


class Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a calibration."""


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


class Rate(Told, frozen=True):
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


class NullRate(Told, frozen=True):
    """What gates said in which nothing had changed.

    Attributes
    ----------
    draws
        `pooled`: both sides from all rounds of the twins. `held out`: the same, with floors from
        the other campaigns alone. `across`: base from one twin and head
        from the other, so that their offset in this campaign, or what so few rounds make look
        like one, counts against the gate.
    campaign
        Empty for all together.
    regression, improvement, variance
        Gates with any such verdict.
    alarm
        Gates with REGRESSION or VARIANCE.
    families
        Gates with a cell of the family that is called REGRESSION or VARIANCE; empty where an older
        calibration did not count them.
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
    families: dict[str, Rate] = {}


class Power(Told, frozen=True):
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


class Offsets(Told, frozen=True):
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


class Uniformity(Told, frozen=True):
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


class RuleRate(Told, frozen=True):
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


class ErrorRate(Told, frozen=True):
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
