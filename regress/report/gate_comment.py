"""The gate's comment: short on top, everything else folded, within GitHub's limit."""

import shlex
from collections.abc import Iterator
from typing import Final

from regress.errors import ExitCode
from regress.model.bump import ACCEPT_LABEL, Bump
from regress.model.ending import ACCEPTED_BY, Ending, Measured, Settled
from regress.model.finding import Finding
from regress.model.report import CheckReport
from regress.report.check_markdown import detail_blocks, sureness
from regress.report.finding_text import render_figures
from regress.report.gate_endings import (
    ending_blocks,
    host_blocks,
    note_blocks,
    render_accepted,
    words_of,
)
from regress.report.gate_story import (
    failing,
    render_causes,
    render_counted,
    render_hint,
    render_measured_on,
    render_moves,
    render_title,
    render_why,
)
from regress.report.headline import render_action
from regress.report.markdown import Block, escaped, fenced, fit, literal, row, table
from regress.report.printable import printable
from regress.report.view import View

__all__ = ["render_comment", "render_headline"]

_LIMIT: Final = 60_000
"""Below that of a comment: who accepts it, and when, must still go on top."""
_SHOWN: Final = 10
_REST: Final = "`report.json` among the run's artifacts"
_OF_THE_RUNNER: Final = ("--run", "--wheels", "--modules", "--report")
"""Options with folders and rounds that are gone with the runner."""
_ACTIONS: Final = {
    ExitCode.PASS: "nothing: as far as attention goes, this can be merged.",
    ExitCode.REGRESSION: "do not merge this as it is.",
    ExitCode.USAGE: "look at the log of the GPU job: it ended with a usage error.",
    ExitCode.UNDECIDED: "re-run all jobs of this run: they take fresh rounds.",
    ExitCode.NO_DATA: "re-run all jobs of this run; if data are missing again, look at the host.",
}
_ACCEPTING: Final = (
    f"If it does not matter to you, a maintainer sets the label `{ACCEPT_LABEL}`; it counts for "
    "this commit only."
)


def render_headline(bump: Bump, settled: Settled, measured: Measured) -> str:
    """Return the verdict as one plain line, for a commit status and an annotation."""
    if settled.ending is Ending.ACCEPTED and bump.accepted:
        return f"{ACCEPTED_BY} {bump.accepted.login}"
    if settled.ending is Ending.JUDGED and measured.report:
        replayed = " (replayed from recorded rounds)" if measured.replayed else ""
        counts = render_counted(printable(measured.report))
        return f"{measured.report.verdict}{replayed}: {counts}"
    words = words_of(bump, settled.ending, measured)
    return f"{words.title}. {words.told}"


def render_comment(bump: Bump, settled: Settled, measured: Measured, run_url: str) -> str:
    """Return the comment's text, whatever the number of findings."""
    bump = printable(bump)
    if settled.ending is Ending.ACCEPTED:
        return render_accepted(bump)
    if settled.ending is Ending.JUDGED and measured.report:
        report = printable(measured.report)
        blocks = [*_top(bump, settled, measured, report), *_worst(report), *note_blocks(bump)]
        blocks.append(Block("", (), (render_measured_on(report, run_url),)))
        blocks += _folded(bump, measured, report)
    else:
        blocks = ending_blocks(bump, settled.ending, measured, run_url)
    return fit(blocks, _LIMIT, _REST)


def _top(bump: Bump, settled: Settled, measured: Measured, report: CheckReport) -> Iterator[Block]:
    """Yield verdict, what to do, and the story in two or three sentences."""
    moves = escaped(render_moves(bump))
    yield Block("", (), (f"### {moves}: {render_title(report)}",))
    if measured.replayed:
        told = "> Replayed from recorded rounds: nothing was measured for this pull request."
        yield Block("", (), (told,))
    action = _action(settled.code, report)
    if settled.code is ExitCode.REGRESSION:
        action = " ".join(filter(None, (action, render_hint(report), _ACCEPTING)))
    verdict = f"Verdict **{report.verdict}** for commit {literal(bump.head_sha[:12])}."
    story = " ".join((verdict, escaped(render_counted(report)), *render_causes(report)))
    yield Block("", (), (story, "", f"**What to do:** {action}"))


def _action(code: ExitCode, report: CheckReport) -> str:
    whole = report.setup.get("timer") != "scripted" and not report.pattern and not report.families
    return _ACTIONS[code] if whole or code is not ExitCode.PASS else escaped(render_action(report))


def _worst(report: CheckReport) -> Iterator[Block]:
    found = failing(report)
    if found:
        more = f" ({_SHOWN} of {len(found)}, more below)" if len(found) > _SHOWN else ""
        rows = [_row(finding, report) for finding in found[:_SHOWN]]
        head = table("case" + more, "head over base", "why")
        yield Block("", rows, head, noun="case")


def _row(finding: Finding, report: CheckReport) -> str:
    case = finding.series.case
    figures = [text.replace("->", "→").replace(" ", "&nbsp;") for text in render_figures(finding)]
    name = f"{literal(case.workload)}<br>{literal(case.backend)}"
    told = "<br>".join(figures) or f"**{finding.verdict}**"
    return row((name, told, render_why(finding, report)))


def _folded(bump: Bump, measured: Measured, report: CheckReport) -> Iterator[Block]:
    """Yield everything else under one fold, so that a green comment is three lines."""
    summary = "All findings, host, how sure this is, and how to reproduce it"
    yield Block("", (), (f"<details><summary>{summary}</summary>",))
    yield from detail_blocks(report, View(), all_folded=True)
    yield from host_blocks(measured, folded=True)
    yield _setup(report)
    sure = sureness(report)
    if sure:
        yield Block("How sure this is", (), (sure,), folded=True)
    yield Block("", (), ("Reproduce:", "", fenced(_commands(bump, measured, report))))
    yield Block("", (), ("</details>",))


def _setup(report: CheckReport) -> Block:
    rows = [row((literal(key), literal(str(value)))) for key, value in report.setup.items()]
    return Block("Set-up of the measurement", rows, table("what", "is"), folded=True)


def _commands(bump: Bump, measured: Measured, report: CheckReport) -> str:
    """Return what makes both stacks known and measures or, if replayed, judges them again."""
    stacks = (bump.base_pins, bump.head_pins)
    known = [f"python -m benchmarks stacks pins {' '.join(pins)}" for pins in stacks]
    gone = _OF_THE_RUNNER[1:] if measured.replayed else _OF_THE_RUNNER
    return "\n".join((*known, _without(report.command, gone)))


def _without(command: str, options: tuple[str, ...]) -> str:
    """Return a command without these options and their values."""
    try:
        words = shlex.split(command)
    except ValueError:  # whoever wrote the report: it is shown as it is
        return command
    dropped = {n + k for n, word in enumerate(words) if word in options for k in (0, 1)}
    return shlex.join(word for n, word in enumerate(words) if n not in dropped)
