"""`history` as Markdown: for a comment, the summary of a job, or a page."""

from collections.abc import Iterable, Sequence

from regress.model.history import History
from regress.report.history_moves import MOVE_HEADER, PLAN_HEADER, move_rows, plan_rows
from regress.report.history_rows import (
    BEST_HEADER,
    CONTROL_HEADER,
    RELEASE_HEADER,
    best_rows,
    control_rows,
    release_rows,
    render_best,
    render_cause,
    render_controls,
    render_exit,
    render_guarantee,
    render_note,
    render_size,
    render_undecided,
)
from regress.report.history_stories import Story, stories_of
from regress.report.history_suspects import render_suspects, suspects_of
from regress.report.markdown import Block, escaped, fenced, fit, literal, row, table
from regress.report.printable import printable
from regress.report.view import View

__all__ = ["render_history_markdown"]


def render_history_markdown(report: History, view: View) -> str:
    """Return the report below the limit of a comment: long lists are folded, then cut."""
    report = printable(report)
    stories = stories_of(report, report.findings)
    head = [f"### {escaped(render_exit(report))}"]
    head += ["", *(f"- Left out: {escaped(file.problem)}" for file in report.damaged)]
    head += [f"- Warning: {escaped(line)}" for line in report.warnings]
    best = list(best_rows(report, everything=view.everything))
    blocks = [
        Block("", (), head),
        *_stories("Worse", [s for s in stories if s.worse]),
        *_stories("Better", [s for s in stories if not s.worse]),
        *_table("Thresholds that moved", MOVE_HEADER, move_rows(report), "move"),
        *_table("Plans that changed", PLAN_HEADER, plan_rows(report), "change"),
        *_table("Releases", RELEASE_HEADER, release_rows(report), "release"),
        Block("", (), [*_undecided(report), escaped(render_best(report))]),
        *_suspects(report),
        *_table("Slower than the best so far", BEST_HEADER, best, "case"),
        Block("", (), (escaped(render_controls(report.controls)),)),
        *_table("Control group", CONTROL_HEADER, control_rows(report.controls), "pair"),
        Block("", (), (escaped(render_guarantee(report.guarantee)), "", fenced(report.command))),
    ]
    return fit(blocks)


def _suspects(report: History) -> list[Block]:
    title = "Looks slower, with too few rounds to prove it"
    told = ("; ".join(render_suspects(report, found)) for found in suspects_of(report))
    rows = [f"- {escaped(line)}" for line in told]
    return [Block(title, rows, noun="step")] if rows else []


def _undecided(report: History) -> list[str]:
    line = render_undecided(report)
    return [escaped(line), ""] if line else []


def _stories(title: str, stories: Sequence[Story]) -> list[Block]:
    rows = [
        row(
            (
                s.lead.verdict,
                f"{literal(s.lead.last_good)} → {literal(s.lead.first_bad)}",
                literal(s.lead.recovered_by) if s.lead.recovered_by else "stands",
                escaped(s.reason),
                escaped(render_size(s.lead.largest)),
                _cause(s) or "as it says",
            )
        )
        for s in stories
    ]
    header = table("verdict", "step", "until", "what", "largest", "likely cause")
    return [Block(title, rows, header, noun="finding")] if rows else []


def _cause(story: Story) -> str:
    """Return what notes say, then what the rounds say by themselves."""
    told = (*map(render_note, story.notes), render_cause(story.lead))
    return "; ".join(escaped(line) for line in told if line)


def _table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[str]], noun: str
) -> list[Block]:
    listed = [row(map(escaped, cells)) for cells in rows]
    return [Block(title, listed, table(*header), folded=True, noun=noun)] if listed else []
