"""The command `comment`: say on a pull request how its gate ended, and exit with that."""

import argparse
import os
import re
from pathlib import Path
from typing import Final

from regress.commands.hosted import require_pygithub
from regress.errors import ExitCode, RegressError, UsageError, worst
from regress.model.bump import Bump
from regress.model.ending import Ending, Settled
from regress.output import append_file, complain, write_file, write_stdout
from regress.report.check_sarif import render_check_sarif
from regress.report.gate_annotations import render_annotations
from regress.report.gate_comment import render_comment, render_headline
from regress.report.printable import escape
from regress.report.view import View
from regress.report.workflow_commands import harmless

__all__ = ["add"]

_URL: Final = re.compile(r"https?://[\w.:/?=&%~+-]+", re.ASCII)


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("comment", help="say on a pull request how its gate ended")
    option = parser.add_argument
    option("--bump", type=Path, metavar="FILE", required=True, help="what `bump` wrote")
    option("--report", type=Path, metavar="FILE", help="JSON report of `ab`, if it came back")
    option("--doctor", type=Path, metavar="FILE", help="JSON of `benchmarks doctor`")
    option("--log", type=Path, metavar="FILE", help="what the measuring job printed")
    option("--exit-code", type=Path, metavar="FILE", help="file with that job's exit code")
    option("--sarif", type=Path, metavar="FILE", help="write what was judged there, as SARIF")
    option("--replayed", action="store_true", help="recorded rounds were judged instead")
    option("--run-url", metavar="URL", required=True, help="the run, for those who read it")
    option("--login", help="who posts as the gate (default: whose token it is)")
    option("--dry-run", action="store_true", help="print the comment; ask and post nothing")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> ExitCode:
    require_pygithub()
    from regress.github.evidence import Files, load_measured, load_passed_on
    from regress.github.settle import settle

    if not _URL.fullmatch(options.run_url):
        msg = f"--run-url {options.run_url}: give the address of the run"
        raise UsageError(msg)
    bump = load_passed_on(options.bump)
    files = Files(options.report, options.doctor, options.log, options.exit_code)
    measured = load_measured(files, replayed=options.replayed)
    settled = settle(bump, measured)
    text = render_comment(bump, settled, measured, options.run_url)
    headline = render_headline(bump, settled, measured)
    if options.dry_run:
        write_stdout(text)
        return settled.code
    _write_summary(text)
    write_stdout(render_annotations(bump, settled, measured))
    if options.sarif and settled.ending is Ending.JUDGED and measured.report:
        write_file(render_check_sarif(measured.report, View()), options.sarif)
    return _told(bump, settled, (headline, text), options)


def _told(
    bump: Bump, settled: Settled, words: tuple[str, str], options: argparse.Namespace
) -> ExitCode:
    """Post; a comment that cannot be posted adds its own exit code, and hides no verdict."""
    from regress.github.client import connect
    from regress.github.tell import Word, tell

    word = Word(*words, options.run_url, options.login)
    try:
        with connect() as github:
            done = tell(github, bump, settled, word)
    except RegressError as error:
        complain(f"regress: the verdict is not posted: {escape(str(error))}")
        return worst((settled.code, error.exit_code))
    write_stdout(harmless(f"{words[0]}\n{done}"))
    return settled.code


def _write_summary(text: str) -> None:
    """Append the same text to the summary of the job, if a job it is."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        append_file(text, Path(path))
