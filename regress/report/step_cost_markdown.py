"""`step-cost` as Markdown, for a comment on a pull request, a job's summary or the docs."""

from collections.abc import Iterable, Iterator, Sequence

from regress.model.step_cost import StackCost, StepCostReport
from regress.model.verdict import Verdict
from regress.report.markdown import LIMIT, Block, escaped, fenced, fit, literal, row, table
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
from regress.report.view import View

__all__ = ["render_step_cost_markdown", "render_step_cost_tables"]


def render_step_cost_markdown(report: StepCostReport, view: View) -> str:
    """Return the report below the limit of a comment: long lists are folded, then cut."""
    report = printable(report)
    headline = (f"### {escaped(render_headline(report))}", "", escaped(render_profile(report)))
    cells = [
        f"- {cell.verdict} {literal(str(cell.case))}: {escaped(cell.message)}"
        for upgrade in report.upgrades
        for cell in upgrade.cells
        if view.everything or cell.verdict is not Verdict.SAME
    ]
    warnings = [f"- {escaped(line)}" for line in report.warnings]
    blocks = (
        Block("", (), headline),
        *_upgrades(report),
        *_lines("Cells that changed", cells),
        *(block for cost in report.costs for block in _stack(cost)),
        *_lines("Warnings", warnings),
        Block("", (), (fenced(report.command),)),
    )
    return fit(blocks, LIMIT)


def render_step_cost_tables(report: StepCostReport) -> str:
    """Return the answer and its tables, for a page of the documentation."""
    pair = [_block("", UPGRADES, render_upgrades(report))] if report.upgrades else []
    answers = [escaped(render_best(cost)) + "." for cost in report.costs]
    choices = [_block("", CHOICES, render_choices(report.costs[-1]))]
    texts = (block.render(len(block.rows)) for block in (*pair, *choices))
    return "\n\n".join((f"{escaped(render_profile(report))}.", *answers, *texts)) + "\n"


def _upgrades(report: StepCostReport) -> Iterator[Block]:
    if report.upgrades:
        yield _block("What the upgrade costs", UPGRADES, render_upgrades(report))


def _stack(cost: StackCost) -> Iterator[Block]:
    yield Block("", (), (escaped(render_best(cost)),))
    yield _block(f"What choices cost under {literal(cost.stack)}", CHOICES, render_choices(cost))
    yield _block("Backends, ms a step", COSTS, render_costs(cost), folded=True)
    yield _block("Batch by batch, ms a step", *render_loads(cost), folded=True)
    yield from _lines("Batches", [f"- {escaped(line)}" for line in render_batches(cost)])
    yield from _lines(
        "What no round holds as it is", [f"- {escaped(line)}" for line in render_lacking(cost)]
    )


def _block(
    title: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, folded: bool = False
) -> Block:
    return Block(title, [row(map(escaped, cells)) for cells in rows], table(*header), folded)


def _lines(title: str, lines: Sequence[str]) -> Iterator[Block]:
    if lines:
        yield Block(f"{title} ({len(lines)})", lines, folded=True, noun="line")
