"""Options of the commands that measure, and what they mean."""

import argparse
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from regress.commands.options import folder
from regress.errors import UsageError
from regress.pipeline.ab.drive import Driver
from regress.store.tree import RECORDED
from workloads.rehearsal import REHEARSAL, rehearsing

__all__ = ["add_measuring", "driver_of", "machine_of", "new_id", "written_to"]


def add_measuring(parser: argparse.ArgumentParser) -> None:
    """Add how stacks are installed, where rounds go, and whether to begin anew."""
    option = parser.add_argument
    option("--new", action="store_true", help="do not go on with what was broken off")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--record", action="store_true", help="write rounds where git keeps results")
    where.add_argument("--into", type=folder, metavar="DIR", help="write rounds there")
    option("--wheels", type=folder, metavar="DIR", help="install stacks from this folder only")
    option("--modules", type=folder, metavar="DIR", help="prebuilt FlashInfer modules")


def written_to(options: argparse.Namespace) -> Path | None:
    """Return the folder that rounds are to be written to; None if none is named."""
    named: Path | None = RECORDED if options.record else options.into
    return named


def machine_of(options: argparse.Namespace) -> str | None:
    """Return the machine to measure on: the one that is named, but a rehearsal has its own."""
    return REHEARSAL if rehearsing() else options.machine


def driver_of(options: argparse.Namespace) -> Driver:
    """Return what measures stages, with the options that are for measuring.

    Raises
    ------
    UsageError
        If a folder is none.
    """
    return Driver(tuple(_passed_on(options)))


def new_id(command: str) -> str:
    """Return an id that no run had before."""
    return f"{command}-{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


def _passed_on(options: argparse.Namespace) -> Iterator[str]:
    for name, path in (("--wheels", options.wheels), ("--modules", options.modules)):
        if path is not None:
            if not path.is_dir():
                msg = f"{name} {path} is no folder"
                raise UsageError(msg)
            yield from (name, str(path.resolve()))
