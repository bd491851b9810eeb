"""`check` as text: verdict and action first, then failures, what got worse, better, the rest."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console

from regress.counted import counted
from regress.errors import ExitCode
from regress.model.finding import Finding, Metric
from regress.model.report import CheckReport
from regress.model.verdict import WORST_FIRST, Verdict
from regress.report.finding_text import render_finding
from regress.report.printable import printable
from regress.report.view import View, render_table

__all__ = ["render_check_text"]

_SECTIONS: Final = (
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
_ACTIONS: Final = {
    ExitCode.PASS: "{head} is safe to take: no cell got worse.",
    ExitCode.REGRESSION: "do not take {head} as it is: see what got worse below.",
    ExitCode.UNDECIDED: "measure more rounds: some cells could not be decided.",
    ExitCode.NO_DATA: "measure what is missing: some cells have no data.",
}
_STYLES: Final = {
    ExitCode.PASS: "bold green",
    ExitCode.REGRESSION: "bold red",
    ExitCode.UNDECIDED: "bold yellow",
    ExitCode.NO_DATA: "bold yellow",
}


def render_check_text(report: CheckReport, view: View) -> str:
    """Return the report for a person who must act on it."""
    report = printable(report)

    def write(console: Console) -> None:
        _headline(console, report)
        for title, verdict in _SECTIONS:
            if verdict is not Verdict.SAME or view.everything:
                found = [f for f in report.findings if f.gates and f.verdict is verdict]
                _section(console, title, found, view)
        _information(console, report, view)
        _unmeasured(console, report, view)
        _families(console, report)
        _footer(console, report)

    return view.draw(write)


def _headline(console: Console, report: CheckReport) -> None:
    style = _STYLES[report.exit_code]
    action = _ACTIONS[report.exit_code].format(head=report.head)
    console.print(f"{report.verdict}  {report.base} -> {report.head}: {action}", style=style)
    counts = Counter(cell.verdict for cell in report.cells)
    told = ", ".join(f"{counts[v]} {v}" for v in WORST_FIRST if counts[v])
    where = f"on {report.machine} ({report.setup['gpu']}), tier {report.tier}"
    console.print(f"{told or 'no cells'} {where}, {_rounds(report)}")


def _rounds(report: CheckReport) -> str:
    """Tell how many rounds of each side the times are from, and how many are not among them."""
    timed = [f.rounds for f in report.findings if f.gates and f.measured] or [report.rounds]
    base = {id_ for rounds in timed for id_ in rounds.base}
    head = {id_ for rounds in timed for id_ in rounds.head}
    rest = len({*report.rounds.base, *report.rounds.head} - base - head)
    more = f" ({rest} more whose times are not compared)" if rest else ""
    return f"{len(base)} and {len(head)} rounds{more}"


def _section(console: Console, title: str, found: Sequence[Finding], view: View) -> None:
    if found:
        console.print(f"\n{title} ({len(found)})", style="bold")
        for finding in found:
            _finding(console, finding, view)


def _finding(console: Console, finding: Finding, view: View) -> None:
    first, *others = render_finding(finding, view)
    console.print(first)
    for line in others:
        console.print(line, style="dim")


def _information(console: Console, report: CheckReport, view: View) -> None:
    found = [f for f in report.findings if not f.gates]
    if not found:
        return
    metrics = " and ".join(sorted({_metric(f.series.metric) for f in found}))
    counts = Counter(f.verdict for f in found)
    told = ", ".join(f"{counts[v]} {v}" for v in WORST_FIRST if counts[v])
    console.print(f"\n{metrics}, not counted in the verdict: {told}", style="bold")
    quiet = () if view.everything else (Verdict.SAME, Verdict.UNDECIDED)
    for finding in found:
        if finding.verdict not in quiet:
            _finding(console, finding, view)


def _metric(metric: Metric) -> str:
    return {
        Metric.KERNEL_TIME: "kernel time",
        Metric.PLAN_TIME: "plan() host time",
        Metric.ERROR: "error",
    }[metric]


def _unmeasured(console: Console, report: CheckReport, view: View) -> None:
    if not report.unmeasured:
        return
    console.print(f"\nNot measured on either side ({len(report.unmeasured)})", style="bold")
    grouped = Counter((cell.base, cell.head) for cell in report.unmeasured)
    for (base, head), cells in grouped.most_common():
        # Adapters name the version that they speak of.
        alike = base.replace(report.base.removeprefix("v"), report.head.removeprefix("v")) == head
        differing = f"{base}; in {report.head} {'likewise' if alike else head}"
        reason = base if base == head else differing
        console.print(f"  {counted(cells, 'cell')} {reason}")
    if view.everything:
        for cell in report.unmeasured:
            console.print(f"      {cell.case}", style="dim")


def _families(console: Console, report: CheckReport) -> None:
    counts = Counter((cell.family, cell.verdict) for cell in report.cells)
    shown = [v for v in WORST_FIRST if any(verdict is v for _, verdict in counts)]
    families = list(dict.fromkeys(cell.family for cell in report.cells))
    rows = [[name, *(str(counts[name, v] or "-") for v in shown)] for name in families]
    console.print()
    console.print(render_table(["family", *shown], rows))


def _footer(console: Console, report: CheckReport) -> None:
    console.print()
    _blindness(console, report)
    _lines(console, "Warning", report.warnings)
    console.print(f"Reproduce: {report.command}")
    console.print("Round ids and all figures: --format json. How to read this: regress/docs/")


def _blindness(console: Console, report: CheckReport) -> None:
    timed = [f.measured for f in report.findings if f.series.metric is Metric.KERNEL_TIME]
    noises = [measured.noise for measured in timed if measured]
    unknown = noises.count(None)
    if unknown < len(noises):
        blind = ", ".join(f"{b.cells} above {b.above:.0%}" for b in report.blind)
        console.print(f"Too noisy to see small changes: {blind}.")
    if unknown:
        console.print(f"Noise unknown in {counted(unknown, 'cell')}: too few rounds.")


def _lines(console: Console, label: str, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(f"{label}: {line}")
