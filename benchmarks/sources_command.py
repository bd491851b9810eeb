"""The command `sources`: keep digests of the releases' attention sources, from their wheels."""

import argparse
import re
import sys
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.adhoc import sha256_of
from benchmarks.errors import UserError
from benchmarks.paths import RECORDED
from benchmarks.sources import join_sources, read_sources
from benchmarks.stackfile import write_text
from benchmarks.stacks import load_stacks
from workloads.sources import SourceFile

__all__ = ["add_parser", "load_releases"]

_LIBRARY: Final = "flashinfer-python"


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `sources`."""
    parser = subparsers.add_parser("sources", help="digests of the releases' attention sources")
    parser.add_argument("wheels", type=Path, metavar="DIR", help="folder of the pinned wheels")
    parser.add_argument(
        "--output",
        type=Path,
        default=RECORDED / "sources.json",
        metavar="FILE",
        help="where to keep them (default: beside the recorded rounds, where regress looks)",
    )
    parser.set_defaults(func=_run)


def _run(arguments: argparse.Namespace) -> None:
    releases, missing = load_releases(arguments.wheels)
    if not releases:
        msg = f"{arguments.wheels} holds no wheel of {_LIBRARY}: python -m benchmarks wheels --to"
        raise UserError(msg)
    text = msgspec.json.encode(join_sources(releases)).decode()
    # One line a file and a release, so that a new release is a small difference in git.
    write_text(arguments.output, re.sub(r'(,|\{)("flashinfer)', r"\1\n\2", text) + "\n")
    sys.stdout.write(f"{arguments.output}: {len(releases)} releases\n")
    if missing:
        sys.stdout.write(f"without a wheel there: {', '.join(missing)}\n")


def load_releases(folder: Path) -> tuple[dict[str, dict[str, SourceFile]], list[str]]:
    """Read the sources of every published release whose wheel is there; name the others.

    Raises
    ------
    UserError
        If a wheel is not the one that the list of stacks pins.
    """
    found: dict[str, dict[str, SourceFile]] = {}
    missing = []
    for stack in load_stacks():
        version = stack.pins.get(_LIBRARY)
        if version is None or stack.ad_hoc:
            continue
        (wheel,) = stack.wheels[_LIBRARY]
        path, name = folder / wheel.file, f"{_LIBRARY}=={version}"
        if not path.is_file():
            missing.append(version)
        elif name not in found:
            if sha256_of(path) != wheel.sha256:
                msg = f"{path} has another sha256 than the list of stacks: download it again"
                raise UserError(msg)
            found[name] = read_sources(path)
    return found, missing
