"""`thresholds` as Markdown, for a comment on a pull request or the summary of a job."""

from collections import Counter
from itertools import groupby

from regress.model.thresholds import ThresholdsReport
from regress.model.verdict import WORST_FIRST, Verdict
from regress.report.markdown import LIMIT, Block, escaped, fenced, fit, literal, row, table
from regress.report.printable import printable
from regress.report.thresholds_rows import header, render_action, render_rows
from regress.report.view import View

__all__ = ["render_threshold_tables", "render_thresholds_markdown"]


def render_thresholds_markdown(report: ThresholdsReport, view: View) -> str:
    """Return the report below the limit of a comment: long lists are folded, then cut."""
    report = printable(report)
    stacks = report.stacks
    pair = " → ".join(literal(tag) for tag in (stacks.base, stacks.head) if tag)
    headline = (f"### {report.verdict}: {pair}", "", escaped(render_action(report)))
    tables = _tables(report)
    found = [
        f"- {f.verdict} {literal(str(f.axis))} ({literal(f.stack)}): {escaped(f.reason.message)}"
        for f in report.findings
        if view.everything or f.verdict is not Verdict.SAME
    ]
    shapes = [
        f"- {s.kind} {literal(s.backend)} {literal(s.line)}: {escaped(s.message)}"
        for s in report.shapes
        if view.everything or s.notable
    ]
    warnings = [f"- {escaped(line)}" for line in report.warnings]
    blocks = (
        Block("", (), headline),
        *(Block("Findings", found, noun="finding") for _ in found[:1]),
        *tables,
        *(Block("Shapes", shapes, folded=True, noun="shape") for _ in shapes[:1]),
        *(Block("Warnings", warnings, folded=True) for _ in warnings[:1]),
        Block("", (), (fenced(report.command),)),
    )
    return fit(blocks, LIMIT)


def _tables(report: ThresholdsReport) -> list[Block]:
    return [
        Block(
            literal(title), [row(map(escaped, cells)) for _, cells in rows], table(*header(report))
        )
        for title, rows in groupby(render_rows(report), key=lambda pair: pair[0])
    ]


def render_threshold_tables(report: ThresholdsReport) -> str:
    """Return the verdict and every table, for a page of the documentation."""
    pair = " -> ".join(tag for tag in (report.stacks.base, report.stacks.head) if tag)
    counts = Counter(f.verdict for f in report.findings)
    told = ", ".join(f"{counts[v]} {v}" for v in WORST_FIRST if counts[v])
    first = f"{pair}: {report.verdict} (findings: {told})."
    return (
        "\n\n".join((first, *(block.render(len(block.rows)) for block in _tables(report)))) + "\n"
    )
