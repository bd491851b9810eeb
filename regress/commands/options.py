"""Options that several commands have, and what they mean."""

import argparse
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from regress.errors import UsageError
from regress.model.waiver import Waivers
from regress.pipeline.request import AUTO_TIER, TIERS, Request
from regress.store.tree import LOCAL, RECORDED, is_folder
from regress.store.waivers import WAIVERS_FILE, load_waivers
from workloads import catalog

__all__ = [
    "add_pair",
    "add_selection",
    "add_waivers",
    "folder",
    "moment",
    "request_of",
    "roots_of",
    "waivers_of",
]


def add_pair(parser: argparse.ArgumentParser) -> None:
    """Add the two stacks to compare."""
    parser.add_argument("base", metavar="BASE", help="stack tag, e.g. v0.6.0")
    parser.add_argument("head", metavar="HEAD", help="stack tag, e.g. v0.6.1")


def add_selection(
    parser: argparse.ArgumentParser, formats: Iterable[str], tiers: Iterable[str] = TIERS
) -> None:
    """Add which cells to judge, where their rounds lie, and where the report goes."""
    add = parser.add_argument
    first = next(iter(tiers))
    what = "cases (auto: up to nightly)" if first == AUTO_TIER else "cases"
    add("--tier", choices=tuple(tiers), default=first, help=what)
    add(
        "--family",
        action="append",
        choices=catalog.FAMILIES,
        default=[],
        help="only cases of this family of the catalog; may be given several times",
    )
    add("--cells", metavar="REGEX", help="only cases whose workload@backend contains this")
    add("--machine", metavar="NAME", help="needed if several machines measured the stacks")
    add("--recorded", action="store_true", help="read the rounds kept in benchmarks/recorded")
    add(
        "--rounds",
        action="append",
        type=folder,
        metavar="DIR",
        help="read the rounds under DIR too",
    )
    add("--format", choices=tuple(formats), default="text")
    add("--output", type=Path, metavar="FILE", help="write there instead of to the terminal")
    add(
        "--report",
        action="append",
        default=[],
        metavar="FORMAT=FILE",
        help="write this format there too; may be given several times",
    )
    add("--config", type=Path, metavar="FILE", help="TOML that overrides thresholds")
    add("--all", action="store_true", help="list what is folded, too")


def add_waivers(parser: argparse.ArgumentParser) -> None:
    """Add the file of waivers."""
    parser.add_argument(
        "--waivers",
        type=Path,
        metavar="FILE",
        help="what is accepted for now (default: waivers.toml of this checkout, if there is one)",
    )


def folder(text: str) -> Path:
    """Return the folder that an option names.

    Raises
    ------
    argparse.ArgumentTypeError
        If the name is empty.
    """
    if not text:
        # A script's empty variable would otherwise mean the current folder.
        msg = "an empty name is no folder"
        raise argparse.ArgumentTypeError(msg)
    return Path(text)


def moment(text: str) -> datetime:
    """Return the time that an option names, in UTC if it names no zone.

    Raises
    ------
    argparse.ArgumentTypeError
        If it is no time in ISO 8601.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        msg = f"{text!r} is no time in ISO 8601, e.g. 2026-11-29T18:00Z"
        raise argparse.ArgumentTypeError(msg) from error
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def request_of(options: argparse.Namespace) -> Request:
    """Return what the options of `add_selection` ask for.

    Raises
    ------
    UsageError
        If a folder is none.
    """
    return Request(
        roots=roots_of(options) or (LOCAL,),
        machine=options.machine,
        tier=options.tier,
        pattern=options.cells,
        families=tuple(options.family),
        command=options.command,
    )


def roots_of(options: argparse.Namespace) -> tuple[Path, ...]:
    """Return the folders of round files that are named.

    Raises
    ------
    UsageError
        If one is no folder.
    """
    roots = list(options.rounds or ())
    for root in roots:
        if not is_folder(root):
            msg = f"--rounds {root} is no folder"
            raise UsageError(msg)
    return (*roots, RECORDED) if options.recorded else tuple(roots)


def waivers_of(options: argparse.Namespace) -> Waivers | None:
    """Read the waivers that are named, or the checkout's own.

    Raises
    ------
    UsageError
        If the file cannot be read or is wrong.
    """
    path: Path | None = options.waivers
    if path is None:
        if not WAIVERS_FILE.exists():
            return None
        path = WAIVERS_FILE
    return Waivers(path.name, load_waivers(path), datetime.now(UTC).date())
