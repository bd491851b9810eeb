"""What a calibration found: noise, error rates and power, as it is stored and shown."""

from collections.abc import Mapping
from typing import Final

from regress.model.finding import Metric
from regress.model.rates import (
    Group,
    NullRate,
    Offsets,
    Power,
    RuleRate,
    Told,
    Uniformity,
)
from workloads.record import Case

__all__ = [
    "CALIBRATION_SCHEMA",
    "Calibration",
    "CampaignUsed",
    "CellNoise",
    "GateTrace",
    "NoiseFigure",
    "Target",
]

CALIBRATION_SCHEMA: Final = 1


class CampaignUsed(Told, frozen=True):
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


class NoiseFigure(Told, frozen=True):
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


class CellNoise(Told, frozen=True):
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


class Target(Told, frozen=True):
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


class GateTrace(Told, frozen=True):
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


class Calibration(Told, frozen=True):
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
