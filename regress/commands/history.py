"""The command `history`: what changed over all releases, why, and what still stands."""

import argparse

from regress.commands.deliver import deliver, targets_of
from regress.commands.options import add_selection, request_of
from regress.config import load_config
from regress.errors import ExitCode
from regress.output import complain
from regress.pipeline.history.history import history
from regress.report import HISTORY_RENDERERS
from regress.report.printable import escape

__all__ = ["add"]


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("history", help="what changed over all releases, and why")
    add_selection(parser, HISTORY_RENDERERS)
    parser.add_argument("--since", metavar="TAG", help="only what begins after this release")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> ExitCode:
    config, targets = load_config(options.config), targets_of(options, HISTORY_RENDERERS)
    report = history(request_of(options), config, options.since)
    deliver(report, options, HISTORY_RENDERERS, targets)
    for file in report.damaged:
        complain(f"regress: left out: {escape(file.problem)}")
    return report.exit_code
