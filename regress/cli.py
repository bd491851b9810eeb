"""Say what got worse between two stacks, and which backend to use."""

import argparse
import shlex
import sys
import traceback
from collections.abc import Sequence
from typing import Final

from regress.commands import (
    ab,
    alert,
    backends,
    bisect,
    bump,
    calibrate,
    change_points,
    check,
    comment,
    explain,
    history,
    keep,
    model,
    show,
    site,
    step_cost,
    thresholds,
)
from regress.errors import ExitCode, RegressError
from regress.output import complain, speak_any_character
from regress.report.printable import escape

__all__ = ["main"]

_COMMANDS: Final = (
    ab,
    check,
    history,
    bisect,
    backends,
    explain,
    thresholds,
    step_cost,
    bump,
    comment,
    calibrate,
    change_points,
    model,
    site,
    show,
    keep,
    alert,
)
"""Modules of commands, in the order of the help."""
_EPILOG: Final = (
    "exit codes: 0 pass, 1 regression (or broken, or gone), 2 usage, 3 undecided, 4 no data; "
    "2 beats 1 beats 4 beats 3 beats 0"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; errors are one line on stderr, and never the code of a regression.

    Parameters
    ----------
    arguments
        Without the program's name; those of the process if None.
    """
    argv = sys.argv[1:] if arguments is None else list(arguments)
    speak_any_character()
    try:
        options = _parser().parse_args(argv)
        options.command = shlex.join(["python", "-m", "regress", *argv])
        code: ExitCode = options.run(options)
    except RegressError as error:
        complain(f"regress: {escape(str(error))}")
        return int(error.exit_code)
    except Exception:  # noqa: BLE001 - Python's own code for it is 1, which means REGRESSION here
        complain(f"{traceback.format_exc()}regress: internal error, nothing was judged")
        return int(ExitCode.USAGE)
    return int(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m regress", description=__doc__, epilog=_EPILOG)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    return parser
