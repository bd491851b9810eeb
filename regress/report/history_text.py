"""`history` as text: verdict, what stands, what is past, releases, best so far, control group."""

from collections.abc import Iterable, Sequence

from rich.console import Console

from regress.counted import counted
from regress.model.history import History
from regress.report.history_moves import move_rows, plan_rows
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
    render_story,
    render_undecided,
)
from regress.report.history_stories import Story, stories_of
from regress.report.history_suspects import render_suspects, suspects_of
from regress.report.printable import printable
from regress.report.view import EXIT_STYLES, View, render_table

__all__ = ["render_history_text"]


def render_history_text(report: History, view: View) -> str:
    """Return the report for a person who wants to know what happened, and why."""
    report = printable(report)

    def write(console: Console) -> None:
        console.print(render_exit(report), style=EXIT_STYLES.get(report.exit_code, "bold yellow"))
        _damaged(console, report)
        every = stories_of(report, report.findings)
        told = [s for s in every if s.lead.gates]
        standing = [s for s in told if s.lead.standing]
        _section(console, "Worse, and still so", [s for s in standing if s.worse])
        past = [s for s in told if not s.lead.standing]
        _section(console, "Worse for a while", [s for s in past if s.worse])
        _section(console, "Better, and still so", [s for s in standing if not s.worse])
        _section(console, "Better for a while", [s for s in past if not s.worse])
        _section(console, "Not counted in the verdict", [s for s in every if not s.lead.gates])
        _moves(console, report)
        _table(console, "Releases", RELEASE_HEADER, release_rows(report))
        if line := render_undecided(report):
            console.print(f"\n{line}")
        _suspects(console, report)
        console.print(f"\n{render_best(report)}")
        _table(console, "", BEST_HEADER, best_rows(report, everything=view.everything))
        console.print(f"\n{render_controls(report.controls)}")
        if view.everything:
            _table(console, "", CONTROL_HEADER, control_rows(report.controls))
        _footer(console, report)

    return view.draw(write)


def _damaged(console: Console, report: History) -> None:
    for file in report.damaged:
        console.print(f"Left out: {file.problem}", style="bold yellow")


def _section(console: Console, title: str, stories: Sequence[Story]) -> None:
    if stories:
        console.print(f"\n{title} ({len(stories)})", style="bold")
        for story in stories:
            first, *others = render_story(story)
            console.print(f"  {first}")
            for line in others:
                console.print(f"      {line}", style="dim")


def _moves(console: Console, report: History) -> None:
    moved = [f"{step}: {what}, by {by}: {axes}" for step, what, by, axes in move_rows(report)]
    plans = [
        f"{step}: {what} in {cases}, e.g. {one}" for step, what, cases, one in plan_rows(report)
    ]
    for title, lines in (("Thresholds that moved", moved), ("Plans that changed", plans)):
        if lines:
            console.print(f"\n{title} ({len(lines)})", style="bold")
        for line in lines:
            console.print(f"  {line}")


def _suspects(console: Console, report: History) -> None:
    every = suspects_of(report)
    if every:
        console.print("\nLooks slower, with too few rounds to prove it", style="bold")
    for found in every:
        first, *others = render_suspects(report, found)
        console.print(f"  {first}")
        for line in others:
            console.print(f"      {line}", style="dim")


def _table(
    console: Console, title: str, header: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    listed = [list(row) for row in rows]
    if listed:
        console.print(f"\n{title}" if title else "", style="bold")
        console.print(render_table(list(header), listed))


def _footer(console: Console, report: History) -> None:
    console.print()
    console.print(
        f"{len(report.series)} series, {counted(len(report.plan_changes), 'plan change')}, "
        f"tier {report.tier}, reference {report.reference}, {report.setup.get('gpu')}"
    )
    console.print(render_guarantee(report.guarantee))
    for line in report.warnings:
        console.print(f"Warning: {line}")
    console.print(f"Reproduce: {report.command}")
    console.print(
        "Control pairs and all cases: --all; every figure: --format json. "
        "How to read this: regress/docs/history.md"
    )
