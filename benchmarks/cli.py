"""Command line: `python -m benchmarks COMMAND`."""

import argparse
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Final

from benchmarks import export, ledger, prebuild, run_command, stacks_command, wheelhouse
from benchmarks.errors import UserError

__all__ = ["main"]

COMMANDS: Final[tuple[ModuleType, ...]] = (
    run_command,
    prebuild,
    stacks_command,
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
    """Run a command and return the exit code: 0, what the command says, or 2 for bad input."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.func(arguments) or 0)
    except UserError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
