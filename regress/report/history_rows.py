"""Rows of the history's tables, for text and Markdown alike."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from regress.counted import bounded, counted
from regress.model.history import (
    ControlGroup,
    Explained,
    Extreme,
    Guarantee,
    History,
    HistoryFinding,
)
from regress.model.history_series import SeriesHistory
from regress.model.reason import ReasonCode
from regress.model.verdict import WORST_FIRST, Verdict
from regress.report.history_stories import Story, headline_of, sources_of, stories_of
from regress.report.view import render_ratio

__all__ = [
    "BEST_HEADER",
    "CONTROL_HEADER",
    "RELEASE_HEADER",
    "best_rows",
    "control_rows",
    "release_rows",
    "render_best",
    "render_cause",
    "render_controls",
    "render_exit",
    "render_guarantee",
    "render_note",
    "render_size",
    "render_story",
    "render_undecided",
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


def render_story(story: Story) -> tuple[str, ...]:
    """Return a story in a few lines: where and how much, then why, then how to see it."""
    lead = story.lead
    state = "" if lead.standing else f", until {lead.recovered_by}"
    what = {"plan_time": "host time of plan(), "}.get(lead.metric, "")
    lines = [f"{lead.verdict} {lead.last_good} -> {lead.first_bad}{state}: {what}{story.reason}"]
    lines += [render_note(note) for note in story.notes]
    lines += [f"likely cause: {line}" for line in (render_cause(lead),) if line]
    if lead.largest is not None:
        lines.append(f"largest: {render_size(lead.largest)}")
    if story.worse and story.newest and story.newest != lead.largest:
        lines.append(f"newest over {lead.last_good}: up to {render_size(story.newest)}")
    lines.append(f"families: {', '.join(story.families)}; see: {lead.reproduce}")
    return tuple(lines)


def render_note(note: Explained) -> str:
    """Return where a finding is explained, and how in a few words."""
    return f"explained in {note.path}: {note.title}"


def render_cause(finding: HistoryFinding) -> str:
    """Return the likely cause in a line; nothing where the finding itself says it."""
    if finding.cause.summary in finding.reason:
        return ""
    sources = sources_of(finding)
    return f"{headline_of(finding)}{f' ({sources})' if sources else ''}"


def release_rows(report: History) -> Iterator[tuple[str, ...]]:
    """Return every release, newest first."""
    for release in reversed(report.releases):
        shown = [f"{release.verdicts[v]} {v}" for v in WORST_FIRST if v in release.verdicts]
        largest = release.slowest or release.fastest
        yield (
            release.stack,
            (release.time or "")[:10] or "-",
            str(release.rounds),
            ", ".join(shown) or "first measured",
            f"{largest.ratio.estimate:.3f}x {largest.case}" if largest else "-",
        )


def render_undecided(report: History) -> str:
    """Say which releases are UNDECIDED for want of rounds; nothing if none is."""
    short: Counter[str] = Counter()
    for one in _kernel_times(report):
        short.update(p.stack for p in one.points if p.code == ReasonCode.TOO_FEW_ROUNDS)
    named = [
        release.stack
        for release in report.releases
        if short[release.stack] * 2 > release.verdicts.get(Verdict.UNDECIDED, 0)
    ]
    if not named:
        return ""
    return (
        "Mostly UNDECIDED for want of rounds, of their own or of the release before: "
        f"{', '.join(named)}."
    )


def best_rows(report: History, *, everything: bool) -> Iterator[tuple[str, ...]]:
    """Return the newest release against the best so far; all cases, or those that are slower."""
    for one in _kernel_times(report):
        best = one.best
        if best is not None and (everything or best.verdict is Verdict.REGRESSION):
            yield str(one.series.case), best.best, best.newest, _over_best(one), best.verdict


def _over_best(one: SeriesHistory) -> str:
    """Return the ratio with its interval; without a campaign in common an estimate alone."""
    if one.best and one.best.ratio:
        return render_ratio(one.best.ratio)
    levels = [point.level for point in one.points if one.best and point.stack == one.best.newest]
    return next((f"about {level:.3f}x" for level in levels if level), "-")


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
    bound = "" if group.upper_rate is None else f" (at most {bounded(group.upper_rate)})"
    return (
        f"Control group: {counted(group.cells, 'pair')} of identical kernels in "
        f"{counted(len(group.pairs), 'pair')} of releases; {counted(group.alarms, 'noise alarm')} "
        f"by a single comparison{bound}, {counted(group.shown, 'step')} by the history's own rule."
    )


def render_guarantee(told: Guarantee) -> str:
    """Say what the error rate of the whole history is, and whether rounds are enough for it."""
    text = (
        f"Of histories in which nothing got slower, at most {bounded(told.family_alpha)} call "
        f"anything slower ({told.hypotheses} tests, exact, adjusted by Holm)."
    )
    if told.smallest_p is not None and told.smallest_p > told.family_alpha:
        text += " At half of the boundaries the rounds are too few to show any step."
    return text


def render_exit(report: History) -> str:
    """Return the headline: verdict of the newest release, and what stands."""
    stories = [s for s in stories_of(report, report.findings) if s.worse and s.lead.gates]
    standing = sum(s.lead.standing for s in stories)
    newest = report.releases[-1].stack
    return (
        f"{report.verdict}  {report.releases[0].stack} to {newest}: "
        f"{counted(standing, 'change')} for the worse that stand, "
        f"{len(stories) - standing} taken back"
    )
