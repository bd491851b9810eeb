"""What the history says of each release: against the one before, and against the best so far."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from regress.model.finding import Change, Metric, Ratio
from regress.model.history import Extreme, History
from regress.model.history_series import SeriesHistory
from regress.model.reason import REASONS, ReasonCode
from regress.model.verdict import WORST_FIRST, Verdict
from regress.report.history_stories import Story, stories_of
from workloads.record import Case

__all__ = ["CellStep", "Step", "steps_of"]

_MEANT: Final[dict[str, str]] = {str(code): told.meaning for code, told in REASONS.items()} | {
    ReasonCode.NOT_CONFIRMED: "The times differ, but these rounds are too few to show it among "
    "all tests of the history; alone, the two may be decided.",
    ReasonCode.TOO_FEW_ROUNDS: "This release or the one before has fewer rounds than the rule "
    "needs.",
}
"""Meanings as a reader of the history needs them."""


@dataclass(frozen=True, slots=True)
class CellStep:
    """What is said of one case under a release, against the release before.

    Attributes
    ----------
    ratio
        With its exact interval; None if the two cannot be compared.
    why
        Meaning of the reason code, in a history.
    bridged
        Whether the two share no campaign and are compared through a third stack.
    control
        Whether both ran the very same kernels in the very same way.
    changes
        Facts of the plan that differ.
    """

    verdict: Verdict
    ratio: Ratio | None
    why: str
    bridged: bool
    control: bool
    changes: tuple[Change, ...] = ()
    code: str | None = None

    @property
    def estimate(self) -> float | None:
        """The ratio without its interval."""
        return self.ratio.estimate if self.ratio else None


@dataclass(frozen=True, slots=True)
class Step:
    """One release.

    Attributes
    ----------
    base
        Tag of the release before.
    counts
        (verdict, cells), worst first, without zeros.
    slowest, fastest
        The shown changes that are largest.
    behind
        Since which release a case has been slower than it was, for cases of which that is shown
        and not taken back by this release.
    stories
        What began here, by cause.
    """

    base: str
    verdict: Verdict
    cells: Mapping[Case, CellStep]
    counts: tuple[tuple[Verdict, int], ...]
    slowest: Extreme | None
    fastest: Extreme | None
    behind: Mapping[Case, str]
    stories: tuple[Story, ...]

    @property
    def short(self) -> int:
        """How many cells are UNDECIDED because a side has too few rounds."""
        return sum(cell.code == ReasonCode.TOO_FEW_ROUNDS for cell in self.cells.values())


def steps_of(told: History) -> dict[str, Step]:
    """Return what is said of each release that has one before it, by its tag."""
    series = [s for s in told.series if s.series.metric is Metric.KERNEL_TIME]
    cells = _cells(told, series)
    behind = _behind(told)
    return {
        release.stack: Step(
            base=release.before,
            verdict=release.verdict,
            cells=cells[release.stack],
            counts=tuple((v, n) for v in WORST_FIRST if (n := release.verdicts.get(v))),
            slowest=release.slowest,
            fastest=release.fastest,
            behind=behind[release.stack],
            stories=stories_of(told, (f for f in told.findings if f.first_bad == release.stack)),
        )
        for release in told.releases
        if release.before is not None and release.verdict is not None
    }


def _cells(told: History, series: list[SeriesHistory]) -> dict[str, dict[Case, CellStep]]:
    changes = {(p.case, p.after): p.changes for p in told.plan_changes}
    found: dict[str, dict[Case, CellStep]] = {release.stack: {} for release in told.releases}
    for one in series:
        case = one.series.case
        for point in one.points:
            if point.verdict is not None:
                found[point.stack][case] = CellStep(
                    point.verdict,
                    point.ratio,
                    _MEANT.get(point.code or "", ""),
                    point.bridged,
                    point.control,
                    changes.get((case, point.stack), ()),
                    point.code,
                )
    return found


def _behind(told: History) -> dict[str, dict[Case, str]]:
    """Return, by release, the cases that a shown regression separates from what they were."""
    tags = [release.stack for release in told.releases]
    found: dict[str, dict[Case, str]] = {tag: {} for tag in tags}
    for case, begin, end in _stretches(told):
        until = tags.index(end) if end else len(tags)
        for tag in tags[tags.index(begin) : until]:
            found[tag].setdefault(case, begin)
    return found


def _stretches(told: History) -> Iterator[tuple[Case, str, str | None]]:
    """Yield (case, first slow release, first one that is as fast again)."""
    ends = {(r.series, r.begin): r.end for r in told.recovered}
    for step in told.steps:
        if step.series.metric is Metric.KERNEL_TIME and step.verdict is Verdict.REGRESSION:
            yield step.series.case, step.first_bad, ends.get((step.series, step.first_bad))
    for drift in told.drifts:
        if drift.series.metric is Metric.KERNEL_TIME:
            yield drift.series.case, drift.passed_at, ends.get((drift.series, drift.passed_at))
