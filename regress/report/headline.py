"""What every report says first: the verdict, what to do, and what was looked at."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from regress.counted import counted
from regress.errors import ExitCode
from regress.model.finding import Finding, Metric
from regress.model.report import CheckReport
from regress.model.verdict import WORST_FIRST, Verdict
from workloads.catalog import TIERS

__all__ = [
    "METRICS",
    "SECTIONS",
    "render_action",
    "render_blindness",
    "render_counts",
    "render_scope",
    "render_unmeasured",
    "section",
]

SECTIONS: Final = (
    ("Broken", Verdict.BROKEN),
    ("Gone", Verdict.GONE),
    ("Slower", Verdict.REGRESSION),
    ("Noisier", Verdict.VARIANCE),
    ("No data", Verdict.NO_DATA),
    ("Undecided", Verdict.UNDECIDED),
    ("Faster", Verdict.IMPROVEMENT),
    ("New", Verdict.NEW),
    ("Same", Verdict.SAME),
)
"""The sections of a report in order; what is waived has one of its own."""

METRICS: Final = {
    Metric.KERNEL_TIME: "kernel time",
    Metric.PLAN_TIME: "plan() host time",
    Metric.SPREAD: "spread of passes",
    Metric.ERROR: "error",
}

_ACTIONS: Final = {
    ExitCode.PASS: "{head} is safe to take: none of the {cells} judged cells got worse.",
    ExitCode.REGRESSION: "do not take {head} as it is: see what got worse below.",
    ExitCode.UNDECIDED: "measure more rounds: some cells could not be decided.",
    ExitCode.NO_DATA: "measure what is missing: some cells have no data.",
}
_NIGHTS: Final = {
    ExitCode.PASS: "{head} is as fast as before on this host.",
    ExitCode.REGRESSION: "look at the host: the same stack got worse on it, see below.",
}
_PARTLY: Final = "none of the {cells} cells that were asked for got worse."
_REHEARSED: Final = "a rehearsal: a script said every time, nothing was measured."
_ACCEPTED: Final = "{head} can be taken: all that got worse is waived, see below."


def render_action(report: CheckReport) -> str:
    """Return what to do, in a sentence."""
    if report.setup.get("timer") == "scripted":
        return _REHEARSED
    waived = any(cell.verdict is Verdict.WAIVED for cell in report.cells)
    passes = report.exit_code is ExitCode.PASS
    text = _ACCEPTED if passes and waived else _ACTIONS[report.exit_code]
    if report.base == report.head:
        text = _NIGHTS.get(report.exit_code, text)
    narrowed = report.pattern or report.families or report.tier not in TIERS
    if text is _ACTIONS[ExitCode.PASS] and narrowed:
        text = _PARTLY
    return text.format(head=report.head, cells=len(report.cells))


def render_counts(verdicts: Iterable[Verdict]) -> str:
    """Return e.g. `1 GONE, 3 SAME`, worst first; empty if there are none."""
    counts = Counter(verdicts)
    return ", ".join(f"{counts[v]} {v}" for v in WORST_FIRST if counts[v])


def render_scope(report: CheckReport) -> str:
    """Return how many cells have which verdict, and on what they were judged."""
    told = render_counts(cell.verdict for cell in report.cells) or "no cells"
    where = f"on {report.machine} ({report.setup['gpu']}), tier {report.tier}"
    return f"{told} {where}, {_rounds(report)}"


def _rounds(report: CheckReport) -> str:
    """Tell how many rounds of each side the times are from, and how many are not among them."""
    judged = (f for f in report.findings if f.gates or f.waived is not None)
    timed = [f.rounds for f in judged if f.measured] or [report.rounds]
    base = {id_ for rounds in timed for id_ in rounds.base}
    head = {id_ for rounds in timed for id_ in rounds.head}
    rest = len({*report.rounds.base, *report.rounds.head} - base - head)
    more = f" ({rest} more whose times are not compared)" if rest else ""
    return f"{len(base)} and {len(head)} rounds{more}"


def render_unmeasured(report: CheckReport) -> list[str]:
    """Return why cases have data on neither side, one line for all that share their reasons."""
    grouped = Counter((cell.base, cell.head) for cell in report.unmeasured)
    lines = []
    for (base, head), cells in grouped.most_common():
        # Adapters name the version that they speak of.
        alike = base.replace(report.base.removeprefix("v"), report.head.removeprefix("v")) == head
        differing = f"{base}; in {report.head} {'likewise' if alike else head}"
        lines.append(f"{counted(cells, 'cell')} {base if base == head else differing}")
    return lines


def section(report: CheckReport, verdict: Verdict) -> list[Finding]:
    """Return the findings of a verdict that count."""
    return [f for f in report.findings if f.gates and f.verdict is verdict]


def render_blindness(report: CheckReport) -> list[str]:
    """Return how many cells cannot show small changes, and in how many that is not known."""
    timed = [f.measured for f in report.findings if f.series.metric is Metric.KERNEL_TIME]
    noises = [measured.noise for measured in timed if measured]
    unknown = noises.count(None)
    lines = []
    if unknown < len(noises):
        blind = ", ".join(f"{b.above:.0%} in {b.cells}" for b in report.blind)
        known = counted(len(noises) - unknown, "cell")
        lines.append(f"Of {known} noise could hide a change of {blind}.")
    if unknown:
        lines.append(f"Noise unknown in {counted(unknown, 'cell')}: too few rounds.")
    return lines
