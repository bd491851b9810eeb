"""What `history` says of single series: their points, steps, drifts and recoveries."""

import msgspec

from regress.model.finding import Change, Ratio, Series
from regress.model.verdict import Verdict
from workloads.record import Case

__all__ = [
    "BestSoFar",
    "Drift",
    "PlanChange",
    "Point",
    "Recovered",
    "SeriesHistory",
    "Step",
]


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Point(_Part, frozen=True):
    """One release in a series.

    Attributes
    ----------
    stack
        Tag of the release.
    time_us
        Median over its rounds of all campaigns, in microseconds; null if it was not measured.
    level
        Its time over that of the series' best release, campaign effects taken out: 1 is the best.
        Null if it was not measured.
    rounds
        How many rounds have a time.
    verdict
        Against the release before: REGRESSION and IMPROVEMENT are shown steps, SAME is shown equal
        within the floor. Null for the first release.
    code
        Reason code of the verdict; null for the first release.
    ratio
        Over the release before, with its exact interval; null if that cannot be compared.
    bridged
        Whether the two share no campaign and are compared through a common reference stack.
    control
        Whether both ran the very same code in the very same way (an A/A pair).
    """

    stack: str
    time_us: float | None
    level: float | None
    rounds: int
    verdict: Verdict | None = None
    code: str | None = None
    ratio: Ratio | None = None
    bridged: bool = False
    control: bool = False


class BestSoFar(_Part, frozen=True):
    """The newest release of a series against the best one before it.

    Attributes
    ----------
    best, newest
        Tags; equal if the newest is the best.
    ratio
        Newest over best; null if they are equal or cannot be compared.
    verdict
        REGRESSION only if a shown step or drift has led there and still stands.
    """

    best: str
    newest: str
    ratio: Ratio | None
    verdict: Verdict


class SeriesHistory(_Part, frozen=True):
    """One metric of one case over all releases.

    Attributes
    ----------
    floor, margin
        Relative differences up to which a step is SAME, and beyond which it is a change.
    noise
        Relative standard deviation between processes, as an upper bound; null if unknown.
    points
        One a release, in order of their time.
    change_points
        Tags of releases at which the segmentation of the levels begins a new segment: information.
        Null if the series is too short for it, or `ruptures` is not installed.
    """

    series: Series
    family: str
    floor: float
    margin: float
    noise: float | None
    points: tuple[Point, ...]
    best: BestSoFar | None
    change_points: tuple[str, ...] | None = None


class Step(_Part, frozen=True):
    """A shown change of one series between two consecutive releases.

    Attributes
    ----------
    last_good, first_bad
        Tags of the releases before and after; for an improvement, of the last slow and first fast.
    verdict
        REGRESSION or IMPROVEMENT.
    ratio
        First bad over last good.
    p_adjusted
        Exact one-sided p-value, adjusted for everything the history asks (Holm).
    within
        First and last release of the window that proves it: a change lies between these for
        certain (with the history's error rate), and most probably where the step says.
    evidence
        What else differs between the rounds of the two releases.
    """

    series: Series
    family: str
    last_good: str
    first_bad: str
    verdict: Verdict
    ratio: Ratio
    p_adjusted: float
    within: tuple[str, str]
    bridged: bool = False
    evidence: tuple[Change, ...] = ()


class Drift(_Part, frozen=True):
    """Many small changes of one series that sum up to more than the margin.

    Attributes
    ----------
    best
        Tag of the best release before it.
    passed_at
        First release that is estimated to be beyond the margin over the best.
    until
        Last release of the window that proves it.
    ratio
        Of the late window over the early one.
    """

    series: Series
    family: str
    best: str
    passed_at: str
    until: str
    ratio: Ratio
    p_adjusted: float


class Recovered(_Part, frozen=True):
    """A regression that a later release took back.

    Attributes
    ----------
    begin, end
        First bad release, and first good one after it.
    depth
        The worst release in between over the last good one.
    releases
        How many releases were affected.
    """

    series: Series
    family: str
    begin: str
    end: str
    depth: float
    releases: int


class PlanChange(_Part, frozen=True):
    """Facts of a case's plan that differ between consecutive releases: exact, without noise."""

    case: Case
    family: str
    before: str
    after: str
    changes: tuple[Change, ...]
