"""Rows of the history's tables, for text and Markdown alike."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from regress.counted import counted
from regress.model.history import (
    ControlGroup,
    Extreme,
    Guarantee,
    History,
    HistoryFinding,
    SeriesHistory,
)
from regress.model.verdict import WORST_FIRST, Verdict
from regress.report.view import render_ratio

__all__ = [
    "BEST_HEADER",
    "CONTROL_HEADER",
    "RELEASE_HEADER",
    "best_rows",
    "control_rows",
    "release_rows",
    "render_best",
    "render_controls",
    "render_exit",
    "render_finding",
    "render_guarantee",
    "render_size",
]

RELEASE_HEADER: Final = (
    "release",
    "uploaded",
    "rounds",
    "against the one before",
    "largest change",
)
BEST_HEADER: Final = ("case", "best release", "newest", "newest over best", "verdict")
CONTROL_HEADER: Final = ("releases", "identical cells", "noise alarms", "attention sources")
_SAME_SOURCES: Final = {True: "identical", False: "differ", None: "not kept"}


def render_size(extreme: Extreme | None) -> str:
    """Return the largest change with its case; a dash without one."""
    return f"{render_ratio(extreme.ratio)} {extreme.case}" if extreme else "-"


def render_finding(finding: HistoryFinding) -> tuple[str, ...]:
    """Return a finding in a few lines: where and how much, then why, then how to see it."""
    state = "" if finding.standing else f", until {finding.recovered_by}"
    what = {"plan_time": "host time of plan(), "}.get(finding.metric, "")
    first = (
        f"{finding.verdict} {finding.last_good} -> {finding.first_bad}{state}: "
        f"{what}{finding.reason}"
    )
    lines = [first, f"cause: {finding.cause.summary}"]
    if finding.largest is not None:
        lines.append(f"largest: {render_size(finding.largest)}")
    lines.append(f"families: {', '.join(finding.families)}; see: {finding.reproduce}")
    return tuple(lines)


def release_rows(report: History) -> Iterator[tuple[str, ...]]:
    """Return every release, newest first."""
    for release in reversed(report.releases):
        shown = [f"{release.verdicts[v]} {v}" for v in WORST_FIRST if v in release.verdicts]
        largest = release.slowest or release.fastest
        yield (
            release.stack,
            (release.time or "")[:10] or "-",
            str(release.rounds),
            ", ".join(shown) or "-",
            render_size(largest),
        )


def best_rows(report: History, *, everything: bool) -> Iterator[tuple[str, ...]]:
    """Return the newest release against the best so far; all cases, or those that are slower."""
    for one in _kernel_times(report):
        best = one.best
        if best is not None and (everything or best.verdict is Verdict.REGRESSION):
            ratio = render_ratio(best.ratio) if best.ratio else "-"
            yield str(one.series.case), best.best, best.newest, ratio, best.verdict


def render_best(report: History) -> str:
    """Say in one line how many cases are at their best."""
    counts = Counter(one.best.verdict for one in _kernel_times(report) if one.best is not None)
    told = ", ".join(f"{counts[v]} {v}" for v in WORST_FIRST if counts[v])
    return f"The newest release against the best so far: {told or 'nothing to compare'}"


def _kernel_times(report: History) -> Sequence[SeriesHistory]:
    return [one for one in report.series if one.series.metric == "kernel_time"]


def control_rows(group: ControlGroup) -> Iterator[tuple[str, ...]]:
    """Return the pairs of the control group."""
    for pair in group.pairs:
        yield (
            f"{pair.base} -> {pair.head}",
            str(pair.cells),
            str(len(pair.alarms)),
            _SAME_SOURCES[pair.same_sources],
        )


def render_controls(group: ControlGroup) -> str:
    """Say how often the history would be wrong where nothing can have changed."""
    if not group.cells:
        return "Control group: no two consecutive releases are known to run identical kernels."
    bound = "" if group.upper_rate is None else f" (at most {group.upper_rate:.2%})"
    return (
        f"Control group: {counted(group.cells, 'pair')} of identical kernels in "
        f"{counted(len(group.pairs), 'pair')} of releases; {counted(group.alarms, 'noise alarm')} "
        f"by a single comparison{bound}, {counted(group.shown, 'step')} by the history's own rule."
    )


def render_guarantee(told: Guarantee) -> str:
    """Say what the error rate of the whole history is, and whether rounds are enough for it."""
    text = (
        f"Of histories in which nothing got slower, at most {told.family_alpha:.0%} call anything "
        f"slower ({told.hypotheses} tests, exact, adjusted by Holm)."
    )
    if told.smallest_p is not None and told.smallest_p > told.family_alpha:
        text += " At half of the boundaries the rounds are too few to show any step."
    return text


def render_exit(report: History) -> str:
    """Return the headline: verdict of the newest release, and what stands."""
    standing = [f for f in report.findings if f.standing and f.gates]
    worse = sum(f.verdict in {Verdict.REGRESSION, Verdict.GONE} for f in standing)
    past = sum(f.verdict is Verdict.REGRESSION and not f.standing for f in report.findings)
    newest = report.releases[-1].stack
    return (
        f"{report.verdict}  {report.releases[0].stack} to {newest}: "
        f"{counted(worse, 'finding')} for the worse that stand, {past} in the past"
    )
