"""`step-cost` as text: the answer, what choices cost, every backend, what is not known."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from rich.console import Console

from regress.counted import counted
from regress.model.step_cost import StackCost, StepCostReport
from regress.model.verdict import Verdict
from regress.report.printable import printable
from regress.report.step_cost_rows import (
    CHOICES,
    COSTS,
    UPGRADES,
    render_batches,
    render_best,
    render_choices,
    render_costs,
    render_headline,
    render_lacking,
    render_loads,
    render_profile,
    render_upgrades,
)
from regress.report.view import EXIT_STYLES, View, render_table

__all__ = ["render_step_cost_text"]

_FEW: Final = 12
_LEGEND: Final = (
    "A step is layers x kernel (merging included) + plan() once; milliseconds, weighted by share.",
    "~: interpolated between recorded batches. ?: kernel time by a model, not measured.",
    "Intervals are of whole step costs, round by round, where rounds hold every batch.",
)


def render_step_cost_text(report: StepCostReport, view: View) -> str:
    """Return the report for a person who runs a model or takes a release."""
    report = printable(report)

    def write(console: Console) -> None:
        console.print(render_headline(report), style=EXIT_STYLES[report.exit_code])
        console.print(render_profile(report))
        if report.upgrades:
            _table(console, "What the upgrade costs", UPGRADES, render_upgrades(report))
            _changes(console, report, view)
        for cost in report.costs:
            _stack(console, report, cost, view)
        console.print()
        for line in (*_LEGEND, *(f"Warning: {warning}" for warning in report.warnings)):
            console.print(line, style="dim")
        console.print(f"Reproduce: {report.command}")

    return view.draw(write)


def _table(
    console: Console, title: str, header: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    console.print(f"\n{title}", style="bold")
    console.print(render_table(header, list(rows)))


def _changes(console: Console, report: StepCostReport, view: View) -> None:
    for upgrade in report.upgrades:
        for cell in upgrade.cells:
            if cell.verdict is not Verdict.SAME or view.everything:
                code = f" [{cell.code}]" if cell.code else ""
                console.print(f"  {cell.verdict}  {cell.case}: {cell.message}{code}")


def _stack(console: Console, report: StepCostReport, cost: StackCost, view: View) -> None:
    if report.verdict is not None:
        console.print(f"\n{render_best(cost)}", style="bold")
    where = f"{counted(cost.rounds, 'round')} of campaign {cost.campaign}"
    title = f"What choices cost under {cost.stack}" + (f" ({where})" if cost.campaign else "")
    _table(console, title, CHOICES, render_choices(cost))
    _table(console, "Backends", COSTS, render_costs(cost))
    if len(cost.loads) <= _FEW or view.everything:
        _table(console, "Batch by batch, ms a step (*: best on paged KV)", *render_loads(cost))
        for line in render_batches(cost):
            console.print(f"  {line}")
    lines = list(render_lacking(cost))
    shown = len(lines) if view.everything else _FEW
    if lines:
        console.print("\nWhat no round holds as it is", style="bold")
    for line in islice(lines, shown):
        console.print(f"  {line}")
    if len(lines) > shown:
        console.print(f"  {len(lines) - shown} more: --all")
