"""`thresholds` as text: the verdict, the numbers, what moved or disagrees, odd shapes."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from rich.console import Console

from regress.model.shape import ShapeFinding, ShapeKind
from regress.model.thresholds import ThresholdFinding, ThresholdsReport
from regress.model.verdict import WORST_FIRST, Verdict
from regress.report.printable import printable
from regress.report.thresholds_rows import header, render_action, render_rows
from regress.report.view import EXIT_STYLES, View, render_table

__all__ = ["render_thresholds_text"]

_FOLD_ABOVE: Final = 3
"""More findings than this with one and the same code are counted."""
_LEGEND: Final = (
    "planned: first batch whose longest request is not split. measured: the same from times alone.",
    "predicted: by the model of the planner. ramp: where a skewed batch begins to cost more.",
    "height: skewed over uniform time at the first batch that is not split.",
    "66: exact. 65..66: one of these. >528: not up to there. <=16: at the smallest batch already.",
)


def render_thresholds_text(report: ThresholdsReport, view: View) -> str:
    """Return the report for a person who chooses batch sizes or watches a release."""
    report = printable(report)

    def write(console: Console) -> None:
        stacks = report.stacks
        pair = stacks.head if stacks.base is None else f"{stacks.base} -> {stacks.head}"
        headline = f"{report.verdict}  {pair}: {render_action(report)}"
        console.print(headline, style=EXIT_STYLES[report.exit_code])
        console.print(f"Where splitting ends, on {report.machine} ({report.setup['gpu']})")
        for title, rows in groupby(render_rows(report), key=lambda pair: pair[0]):
            console.print(f"\n{title}", style="bold")
            console.print(render_table(header(report), [list(row) for _, row in rows]))
        console.print()
        for line in _LEGEND:
            console.print(line, style="dim")
        _findings(console, report, view)
        _shapes(console, report, view)
        console.print()
        for line in report.warnings:
            console.print(f"Warning: {line}")
        console.print(f"Reproduce: {report.command}")

    return view.draw(write)


def _findings(console: Console, report: ThresholdsReport, view: View) -> None:
    counts = Counter(f.verdict for f in report.findings)
    every = ", ".join(f"{counts[v]} {v}" for v in WORST_FIRST if counts[v])
    console.print(f"\nFindings: {every}", style="bold")
    told: Counter[str] = Counter()
    for finding in report.findings:
        if finding.verdict is not Verdict.SAME or view.everything:
            told[finding.reason.code] += 1
            if told[finding.reason.code] <= _FOLD_ABOVE or view.everything:
                for line in _finding(finding):
                    console.print(line)
    for code, number in told.items():
        if number > _FOLD_ABOVE and not view.everything:
            console.print(f"  {number - _FOLD_ABOVE} more [{code}]: --all")


def _finding(finding: ThresholdFinding) -> Iterator[str]:
    yield f"  {finding.verdict}  {finding.axis} ({finding.stack})"
    yield f"      {finding.reason.message} [{finding.reason.code}]"


def _shapes(console: Console, report: ThresholdsReport, view: View) -> None:
    """Show what is notable, and linearity always: it is the rule that the others break."""
    shown = [s for s in report.shapes if _wanted(s) or view.everything]
    folded = len(report.shapes) - len(shown)
    console.print("\nShapes of head's curves, not counted in the verdict", style="bold")
    for kind, group in groupby(shown, key=lambda s: s.kind):
        console.print(f"  {kind}")
        for shape in group:
            mark = "!" if shape.notable else " "
            console.print(f"   {mark} {shape.backend}  {shape.line}")
            console.print(f"       {shape.message}")
    if folded:
        console.print(f"  {folded} more without anything notable: --all")


def _wanted(shape: ShapeFinding) -> bool:
    return shape.notable or shape.kind in {ShapeKind.LINEARITY, ShapeKind.PREPARE, ShapeKind.MERGE}
