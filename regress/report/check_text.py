"""`check` as text: verdict and action first, then failures, what got worse, better, the rest."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console

from regress.counted import counted
from regress.model.finding import Finding
from regress.model.report import CheckReport
from regress.model.verdict import WORST_FIRST, Verdict
from regress.report.finding_text import render_finding
from regress.report.headline import (
    METRICS,
    SECTIONS,
    render_action,
    render_blindness,
    render_counts,
    render_scope,
    render_unmeasured,
    section,
)
from regress.report.printable import printable
from regress.report.run_text import STAGE_HEADER, render_error_rate, render_run, stage_rows
from regress.report.view import EXIT_STYLES, View, render_table
from regress.report.waived_text import (
    accepted,
    render_acceptance,
    render_elsewhere,
    render_waiver_findings,
)

__all__ = ["render_check_text"]


_FOLD_ABOVE: Final = 3
"""More findings than this for one and the same reason are one line."""


def render_check_text(report: CheckReport, view: View) -> str:
    """Return the report for a person who must act on it."""
    report = printable(report)

    def write(console: Console) -> None:
        _headline(console, report)
        for title, verdict in SECTIONS:
            if verdict is not Verdict.SAME or view.everything:
                _section(console, title, section(report, verdict), view)
        _waived(console, report, view)
        _information(console, report, view)
        _unmeasured(console, report, view)
        _families(console, report)
        _run(console, report)
        _footer(console, report, view)

    return view.draw(write)


def _headline(console: Console, report: CheckReport) -> None:
    style = "bold yellow" if report.verdict is Verdict.WAIVED else EXIT_STYLES[report.exit_code]
    told = f"{report.verdict}  {report.base} -> {report.head}: {render_action(report)}"
    console.print(told, style=style)
    console.print(render_scope(report))


def _section(console: Console, title: str, found: Sequence[Finding], view: View) -> None:
    if found:
        console.print(f"\n{title} ({len(found)})", style="bold")
        alike = Counter(f.reason for f in found if f.measured is None)
        folded = {r for r, n in alike.items() if n > _FOLD_ABOVE and not view.everything}
        for reason in dict.fromkeys(f.reason for f in found if f.reason in folded):
            told = f"{counted(alike[reason], 'cell')}: {reason.message} [{reason.code}]"
            console.print(f"  {told}")
        for finding in found:
            if finding.reason not in folded:
                _finding(console, finding, view)


def _finding(console: Console, finding: Finding, view: View) -> None:
    first, *others = render_finding(finding, view)
    console.print(first)
    for line in others:
        console.print(line, style="dim")


def _waived(console: Console, report: CheckReport, view: View) -> None:
    groups = list(accepted(report))
    if groups:
        console.print(f"\nWaived ({sum(len(found) for _, found in groups)})", style="bold")
    for use, found in groups:
        console.print(f"  {render_acceptance(use)}")
        for finding in found:
            if view.everything:
                _finding(console, finding, view)
            else:
                console.print(render_finding(finding, view)[0])


def _information(console: Console, report: CheckReport, view: View) -> None:
    found = [f for f in report.findings if not f.gates and f.waived is None]
    if not found:
        return
    metrics = " and ".join(sorted({METRICS[f.series.metric] for f in found}))
    told = render_counts(f.verdict for f in found)
    console.print(f"\n{metrics}, not counted in the verdict: {told}", style="bold")
    quiet = () if view.everything else (Verdict.SAME, Verdict.UNDECIDED)
    for finding in found:
        if finding.verdict not in quiet:
            _finding(console, finding, view)


def _unmeasured(console: Console, report: CheckReport, view: View) -> None:
    if not report.unmeasured:
        return
    console.print(f"\nNot measured on either side ({len(report.unmeasured)})", style="bold")
    for line in render_unmeasured(report):
        console.print(f"  {line}")
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


def _run(console: Console, report: CheckReport) -> None:
    if report.run:
        console.print()
        console.print(render_table(STAGE_HEADER, list(stage_rows(report.run))))
        _lines(console, render_run(report.run))


def _footer(console: Console, report: CheckReport, view: View) -> None:
    console.print()
    _lines(console, render_error_rate(report.error_rate) if report.error_rate else ())
    _lines(console, render_blindness(report))
    _lines(console, report.warnings, "Warning: ")
    _lines(console, render_waiver_findings(report), "Waiver to look at: ")
    if view.everything and render_elsewhere(report):
        console.print(render_elsewhere(report))
    console.print(f"Reproduce: {report.command}")
    console.print("Round ids and all figures: --format json. How to read this: regress/docs/")


def _lines(console: Console, lines: Iterable[str], label: str = "") -> None:
    for line in lines:
        console.print(f"{label}{line}")
