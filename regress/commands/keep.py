"""The command `keep`: copy round files to where they are kept for good."""

import argparse
from pathlib import Path

from regress.commands.options import folder
from regress.errors import ExitCode, UsageError
from regress.output import write_stdout
from regress.pipeline.keep import keep
from regress.report.printable import escape
from regress.report.workflow_commands import harmless
from regress.store.tree import is_folder

__all__ = ["add"]


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("keep", help="copy round files to where they are kept")
    parser.add_argument("source", type=folder, metavar="DIR", help="folder of round files")
    parser.add_argument("--into", type=folder, required=True, metavar="DIR", help="kept there")
    parser.add_argument("--machine", metavar="NAME", help="the only machine they may be of")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> ExitCode:
    """Keep what is sound, then fail if something was not.

    Raises
    ------
    UsageError
        If there is no such folder, or a file was refused.
    """
    source: Path = options.source
    if not is_folder(source):
        msg = f"{source} is no folder"
        raise UsageError(msg)
    kept = keep(source, options.into, options.machine)
    write_stdout(harmless(escape(kept.render().rstrip())))
    if kept.refused:
        raise UsageError("; ".join(kept.refused))
    return ExitCode.PASS
