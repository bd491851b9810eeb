"""The result of `history`: every step of every series over all releases, and what explains it."""

from enum import StrEnum
from typing import Final

import msgspec

from regress.errors import ExitCode
from regress.model.cause import Cause
from regress.model.finding import Metric, Ratio
from regress.model.history_moves import ThresholdMove
from regress.model.history_series import Drift, PlanChange, Recovered, SeriesHistory, Step
from regress.model.verdict import Verdict
from workloads.record import Case

__all__ = [
    "HISTORY_SCHEMA",
    "ControlGroup",
    "ControlPair",
    "Damaged",
    "Explained",
    "Extreme",
    "Guarantee",
    "History",
    "HistoryFinding",
    "Kind",
    "Release",
]

HISTORY_SCHEMA: Final = 1


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Kind(StrEnum):
    """What sort of change a finding of the history is."""

    STEP = "step"
    """Between two consecutive releases."""
    DRIFT = "drift"
    """No single step is beyond the margin, their sum is."""
    LOST = "lost"
    """A case that ran is lost, or runs now and then."""
    APPEARED = "appeared"
    """A case that could not run runs now."""


class Extreme(_Part, frozen=True):
    """The cell of a group that changed most."""

    case: Case
    ratio: Ratio


class Explained(_Part, frozen=True):
    """A triage note that explains a finding: a page inside the checkout, and its title."""

    path: str
    title: str


class HistoryFinding(_Part, frozen=True):
    """One change with one cause: what a triage note is about.

    Attributes
    ----------
    id
        Stable for the same change: kind, metric, first bad release, cause.
    verdict
        REGRESSION, IMPROVEMENT, GONE or NEW.
    standing
        Whether the newest release still has it: a recovered regression stays in the record and
        does not count for the exit code.
    gates
        Whether its metric counts for the exit code.
    recovered_by
        First release in which its cases are as fast again; null if it stands.
    families, cases
        What it affects.
    size
        Median ratio of its cells, head over base; null for cases that were lost or appeared.
    largest
        The cell that changed most, with its interval.
    newest
        The cell that differs most between `last_good` and the newest release, whatever else changed
        in between; null if the change was taken back, or nothing joins the two releases.
    reproduce
        Command that compares the two releases, from the same rounds.
    notes
        Triage notes that explain it; where there is one it knows more than `cause`.
    """

    id: str
    kind: Kind
    metric: Metric
    last_good: str
    first_bad: str
    verdict: Verdict
    standing: bool
    gates: bool
    recovered_by: str | None
    families: tuple[str, ...]
    cases: tuple[Case, ...]
    size: float | None
    largest: Extreme | None
    reason: str
    cause: Cause
    reproduce: str
    notes: tuple[Explained, ...] = ()
    newest: Extreme | None = None


class ControlPair(_Part, frozen=True):
    """Two consecutive releases and the cells that ran identical kernels in both.

    Attributes
    ----------
    cells
        Kernel-time cells of which device code, plan facts, launches and resolved backend agree,
        or whose library is the same: the same version, or no kept source differs.
    alarms
        Cases among them of which the rule of a single comparison says that times changed.
    same_sources
        Whether the attention sources of the two releases are identical too; null if unknown.
    """

    base: str
    head: str
    cells: int
    alarms: tuple[Case, ...]
    same_sources: bool | None


class ControlGroup(_Part, frozen=True):
    """What the history says where nothing can have changed: its measured false-alarm rate.

    Attributes
    ----------
    cells
        Pairs of cells that were compared.
    alarms
        How many of them a single comparison would call changed (noise alarms; never findings).
    shown
        How many the whole history would call changed, if it did not know better.
    rate, upper_rate
        Alarms over cells, and its exact upper bound of 95 % (Clopper and Pearson); null without
        cells, the bound also without scipy.
    """

    pairs: tuple[ControlPair, ...]
    cells: int
    alarms: int
    shown: int
    rate: float | None
    upper_rate: float | None


class Guarantee(_Part, frozen=True):
    """What the history's error rate is.

    Attributes
    ----------
    family_alpha
        Of histories in which nothing got slower, at most this share calls anything slower;
        improvements are a family of their own.
    hypotheses
        Tests that one direction is adjusted for.
    smallest_p
        Smallest adjusted p-value that these rounds could give in the median cell: where it is
        above `family_alpha`, more rounds are needed before any step can be shown.
    """

    family_alpha: float
    hypotheses: int
    smallest_p: float | None


class Release(_Part, frozen=True):
    """One release, against the one before and against the best so far; kernel times only.

    Attributes
    ----------
    time
        When it was uploaded, ISO 8601; null for an ad-hoc stack.
    before
        Tag of the release before; null for the first.
    cards
        UUIDs of the GPUs that measured it.
    verdicts
        How many cells have which verdict against the release before.
    slowest, fastest
        The shown regression and improvement that are largest.
    slower_than_best
        Cells of which a shown regression stands. Fewer may be called REGRESSION against the best so
        far: such a cell may have made up for part of it.
    """

    stack: str
    time: str | None
    before: str | None
    rounds: int
    campaigns: int
    cards: tuple[str, ...]
    verdict: Verdict | None
    verdicts: dict[str, int]
    slowest: Extreme | None
    fastest: Extreme | None
    slower_than_best: int


class Damaged(_Part, frozen=True):
    """A round file that cannot be used: it is named and left out."""

    path: str
    problem: str


class History(_Part, frozen=True):
    """Everything that changed over the releases of one machine.

    Attributes
    ----------
    schema
        Counts incompatible changes of this layout.
    command
        Reproduces the report.
    since
        Only what begins after this release is in `findings`; null for all.
    verdict, exit_code
        Of regressions that stand in the newest release; usage (2) if a file is damaged.
    releases
        In order of their time.
    reference
        The stack that most campaigns hold: what bridges campaigns that share no pair.
    threshold_moves
        Where splitting, or what it costs, surely ends or begins at another batch size: information.
        From rounds of every tier.
    damaged
        Round files that were left out.
    """

    schema: int
    command: str
    machine: str
    setup: dict[str, str | int | float]
    tier: str
    pattern: str | None
    families: tuple[str, ...]
    since: str | None
    verdict: Verdict
    exit_code: ExitCode
    reference: str
    releases: tuple[Release, ...]
    findings: tuple[HistoryFinding, ...]
    series: tuple[SeriesHistory, ...]
    steps: tuple[Step, ...]
    drifts: tuple[Drift, ...]
    recovered: tuple[Recovered, ...]
    plan_changes: tuple[PlanChange, ...]
    threshold_moves: tuple[ThresholdMove, ...]
    controls: ControlGroup
    guarantee: Guarantee
    damaged: tuple[Damaged, ...]
    warnings: tuple[str, ...]
