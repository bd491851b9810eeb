"""`history` as Markdown: for a comment, the summary of a job, or a page."""

from collections.abc import Iterable, Sequence

from regress.model.history import History, HistoryFinding
from regress.model.verdict import Verdict
from regress.report.history_rows import (
    BEST_HEADER,
    CONTROL_HEADER,
    RELEASE_HEADER,
    best_rows,
    control_rows,
    release_rows,
    render_best,
    render_controls,
    render_exit,
    render_guarantee,
    render_size,
)
from regress.report.markdown import Block, escaped, fenced, fit, literal, row, table
from regress.report.printable import printable
from regress.report.view import View

__all__ = ["render_history_markdown"]

_WORSE = (Verdict.REGRESSION, Verdict.GONE)


def render_history_markdown(report: History, view: View) -> str:
    """Return the report below the limit of a comment: long lists are folded, then cut."""
    report = printable(report)
    worse = [f for f in report.findings if f.verdict in _WORSE]
    better = [f for f in report.findings if f.verdict not in _WORSE]
    head = [f"### {escaped(render_exit(report))}"]
    head += ["", *(f"- Left out: {escaped(file.problem)}" for file in report.damaged)]
    head += [f"- Warning: {escaped(line)}" for line in report.warnings]
    best = list(best_rows(report, everything=view.everything))
    blocks = [
        Block("", (), head),
        *_findings("Worse", worse),
        *_findings("Better", better),
        *_table("Releases", RELEASE_HEADER, release_rows(report), "release"),
        Block("", (), (escaped(render_best(report)),)),
        *_table("Slower than the best so far", BEST_HEADER, best, "case"),
        Block("", (), (escaped(render_controls(report.controls)),)),
        *_table("Control group", CONTROL_HEADER, control_rows(report.controls), "pair"),
        Block("", (), (escaped(render_guarantee(report.guarantee)), "", fenced(report.command))),
    ]
    return fit(blocks)


def _findings(title: str, findings: Sequence[HistoryFinding]) -> list[Block]:
    rows = [
        row(
            (
                finding.verdict,
                f"{literal(finding.last_good)} → {literal(finding.first_bad)}",
                literal(finding.recovered_by) if finding.recovered_by else "stands",
                escaped(finding.reason),
                escaped(render_size(finding.largest)),
                escaped(finding.cause.summary),
            )
        )
        for finding in findings
    ]
    header = table("verdict", "step", "until", "what", "largest", "likely cause")
    return [Block(title, rows, header, noun="finding")] if rows else []


def _table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[str]], noun: str
) -> list[Block]:
    listed = [row(map(escaped, cells)) for cells in rows]
    return [Block(title, listed, table(*header), folded=True, noun=noun)] if listed else []
