"""Command line: `python -m benchmarks COMMAND`."""

import argparse
import contextlib
import os
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType
from typing import Final

from benchmarks import (
    backfill_command,
    doctor_command,
    export,
    ledger,
    prebuild,
    run_command,
    sources_command,
    stacks_command,
    wheelhouse,
)
from benchmarks.errors import UserError

__all__ = ["main"]

COMMANDS: Final[tuple[ModuleType, ...]] = (
    doctor_command,
    run_command,
    backfill_command,
    prebuild,
    stacks_command,
    sources_command,
    ledger,
    wheelhouse,
    export,
)
"""Modules with `add_parser(subparsers)`; each sets `func`, which takes the parsed arguments."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure attention kernels of pinned library versions.",
    )
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0, what the command says, or 2 for all that failed.

    1 is `doctor`'s word that the host is unfit, and a regression elsewhere; an error of this
    program itself is a traceback and 2. A file that cannot be used is one line, and so is output
    that cannot be written; a closed pipe is none.
    """
    try:
        return _run(argv)
    except UserError as error:
        _complain(f"error: {error}\n")
    except BrokenPipeError:
        pass
    except OSError as error:
        what = error.filename or "a file or standard output"
        _complain(f"error: cannot read or write {what}: {error.strerror or error}\n")
    except Exception:  # noqa: BLE001 - Python's own exit code for it would be 1
        _complain(f"{traceback.format_exc()}error: this is a fault of the program: report it\n")
    return 2


def _run(argv: Sequence[str] | None) -> int:
    if sys.stdout is None:
        msg = "standard output is closed: send it to a file or to /dev/null"
        raise UserError(msg)
    try:
        arguments = _parser().parse_args(argv)
        return int(arguments.func(arguments) or 0)
    finally:
        _flush()


def _flush() -> None:
    """Write out what is left, as errors at the end of the process are Python's: exit code 120."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _complain(text: str) -> None:
    with contextlib.suppress(OSError, AttributeError):  # it may be full, or closed
        sys.stderr.write(text)
