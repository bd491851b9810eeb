"""A folder of wheels, so that a host without network can make stack environments."""

import argparse
import platform
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.adhoc import sha256_of
from benchmarks.errors import UserError
from benchmarks.slim import SLIMMED, SlimWheel, load_manifest, write_slim
from benchmarks.stacks import Stack, Wheel, find_stack, load_stacks
from benchmarks.venv import companion_versions

if TYPE_CHECKING:
    from benchmarks.index import Index

__all__ = ["add_parser", "fill"]


def fill(
    index: "Index",
    stacks: tuple[Stack, ...],
    directory: Path,
    machine: str,
    *,
    slim: bool = False,
) -> tuple[Path, ...]:
    """Download the wheels of stacks and their companions; what is there already is kept.

    Parameters
    ----------
    index
        Package index.
    stacks
        Stacks of releases; local wheels of ad-hoc stacks are left where they are.
    directory
        Where to put them.
    machine
        Processor, `x86_64` or `aarch64`; wheels for others are left out.
    slim
        Whether to put slim wheels in FlashInfer's place.

    Returns
    -------
    tuple
        The files, each with the hash that its stack (or, for companions, the index) states.

    Raises
    ------
    UserError
        If a file cannot be had or has another hash, or the directory cannot be made.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make the folder {directory}: {error.strerror}"
        raise UserError(msg) from error
    wanted = {wheel.file: (name, wheel) for s in stacks for name, wheel in _published(s)}
    for name, exact in companion_versions().items():
        wanted |= {w.file: (name, w) for w in index.load_release(name, exact).wheels}
    chosen = [pair for file, pair in sorted(wanted.items()) if _runs_on(file, machine)]
    fetch = _fetch_slim if slim else _fetch
    return tuple(fetch(index, name, wheel, directory) for name, wheel in chosen)


def _published(stack: Stack) -> list[tuple[str, Wheel]]:
    return [(name, w) for name, wheels in stack.wheels.items() for w in wheels if not w.path]


def _runs_on(file: str, machine: str) -> bool:
    return file.endswith((f"_{machine}.whl", "-any.whl"))


def _fetch(index: "Index", name: str, wheel: Wheel, directory: Path) -> Path:
    path = index.download(name, wheel, directory)
    if sha256_of(path) != wheel.sha256:
        msg = f"{path} has another sha256 than its stack names: remove it and try again"
        raise UserError(msg)
    sys.stdout.write(f"{path}\n")
    return path


def _fetch_slim(index: "Index", name: str, wheel: Wheel, directory: Path) -> Path:
    if name != SLIMMED:
        return _fetch(index, name, wheel, directory)
    known = load_manifest(directory).get(wheel.file)
    path = directory / wheel.file
    is_whole = path.is_file() and known == SlimWheel(wheel.sha256, sha256_of(path))
    if is_whole:
        return path
    with tempfile.TemporaryDirectory(prefix="attention-wheels-") as folder:
        write_slim(_fetch(index, name, wheel, Path(folder)), directory)
    sys.stdout.write(f"{path}, derived from it\n")
    return path


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `wheels`."""
    parser = subparsers.add_parser("wheels", help="download wheels for a host without network")
    parser.add_argument("tags", nargs="*", metavar="TAG", help="stacks; all published ones if none")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR", help="folder to fill")
    parser.add_argument(
        "--arch",
        choices=("x86_64", "aarch64"),
        default=platform.machine(),
        help="processor of that host (this machine's if not given)",
    )
    parser.add_argument(
        "--slim", action="store_true", help="FlashInfer without GPU sources, for prebuilt modules"
    )
    parser.set_defaults(func=_run)


def _run(arguments: argparse.Namespace) -> None:
    from benchmarks.index import open_index

    known = load_stacks()
    tags = arguments.tags or [stack.tag for stack in known if not stack.ad_hoc]
    stacks = tuple(find_stack(tag, known) for tag in tags)
    with open_index() as index:
        fill(index, stacks, arguments.to, arguments.arch, slim=arguments.slim)
