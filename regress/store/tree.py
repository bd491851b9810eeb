"""The folders of round files: `<root>/<machine>/<stack tag>/*.json.gz`."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from regress.errors import NoDataError, UsageError
from workloads.rehearsal import REHEARSAL
from workloads.unrunnable import UNRUNNABLE_FILE

__all__ = ["LOCAL", "RECORDED", "STACKS_FILE", "Tree", "is_folder", "load_known_tags", "scan"]

_REPOSITORY: Final = Path(__file__).parents[2]
LOCAL: Final = _REPOSITORY / ".asv" / "rounds"
"""Where this checkout's own rounds are written."""
RECORDED: Final = _REPOSITORY / "benchmarks" / "recorded"
"""Rounds of real runs that are kept in git."""
STACKS_FILE: Final = _REPOSITORY / "benchmarks" / "stacks.toml"
"""The published list of stacks, read as data."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The round files found, by machine and stack tag.

    Attributes
    ----------
    roots
        Folders that were searched.
    files
        Paths by (machine, tag), sorted.
    notes
        Why stacks cannot be measured, where their rounds would be.
    ignored
        Files that are neither, e.g. left half-written by a killed run.
    """

    roots: tuple[Path, ...]
    files: dict[tuple[str, str], tuple[Path, ...]]
    notes: tuple[Path, ...]
    ignored: tuple[Path, ...]

    def tags(self, machine: str) -> tuple[str, ...]:
        """Return the stacks that have rounds on a machine."""
        return tuple(tag for name, tag in self.files if name == machine)

    def choose_machine(self, tags: Sequence[str], wanted: str | None, known: frozenset[str]) -> str:
        """Return the machine that has rounds of all these stacks.

        Raises
        ------
        UsageError
            If a tag is unknown, `wanted` has no rounds at all, or several machines fit.
        NoDataError
            If the stacks are known but not measured, or not on one machine.
        """
        for tag in tags:
            self.require(tag, known)
        machines = sorted({machine for machine, _ in self.files})
        if wanted is not None and wanted not in machines:
            msg = f"no rounds of a machine {wanted!r}: there are {', '.join(machines)}"
            raise UsageError(msg)
        fitting = [m for m in machines if all((m, tag) in self.files for tag in tags)]
        if wanted is not None:
            fitting = [m for m in fitting if m == wanted]
        elif len(fitting) > 1:
            fitting = [m for m in fitting if m != REHEARSAL]
        if not fitting:
            where = f"on {wanted}" if wanted else "on one machine"
            msg = f"{' and '.join(tags)} have no rounds {where}: {self._whereabouts(tags)}"
            raise NoDataError(msg)
        if len(fitting) > 1:
            msg = f"rounds of several machines: choose with --machine {' or '.join(fitting)}"
            raise UsageError(msg)
        return fitting[0]

    def require(self, tag: str, known: frozenset[str]) -> None:
        """Refuse a stack without rounds.

        Raises
        ------
        UsageError
            If nobody knows the tag; near ones are named.
        NoDataError
            If it is known and was not measured.
        """
        present = sorted({name for _, name in self.files})
        if tag in present:
            return
        searched = ", ".join(str(root) for root in self.roots)
        if tag in known:
            msg = f"stack {tag} has no rounds under {searched}: measure it first"
            raise NoDataError(msg)
        if not present and not known:
            msg = f"no rounds at all under {searched}: measure first, or use --recorded"
            raise NoDataError(msg)
        near = get_close_matches(tag, [*present, *sorted(known)], n=3)
        hint = f"; did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""
        listed = f"with rounds: {', '.join(present) or 'none'}"
        msg = f"unknown stack {tag!r} ({listed}){hint}"
        raise UsageError(msg)

    def _whereabouts(self, tags: Sequence[str]) -> str:
        parts = []
        for tag in tags:
            machines = sorted(m for m, name in self.files if name == tag)
            parts.append(f"{tag} has some on {', '.join(machines) or 'none'}")
        return "; ".join(parts)


def is_folder(path: Path) -> bool:
    """Whether a path is a folder.

    Raises
    ------
    UsageError
        If that cannot be found out, e.g. because a folder above it is closed to the user.
    """
    try:
        return path.is_dir()
    except OSError as error:
        raise UsageError(_unreadable(error)) from error


def scan(roots: Sequence[Path]) -> Tree:
    """Find the round files under some roots; a root that does not exist holds none.

    Raises
    ------
    UsageError
        If a folder cannot be read: what it holds is not known.
    """
    try:
        return _scan(roots)
    except OSError as error:
        raise UsageError(_unreadable(error)) from error


def _unreadable(error: OSError) -> str:
    return f"cannot read {error.filename}: {error.strerror or error}"


def _scan(roots: Sequence[Path]) -> Tree:
    files: dict[tuple[str, str], list[Path]] = {}
    notes: list[Path] = []
    ignored: list[Path] = []
    for root in roots:
        for folder in _folders(root):
            key = (folder.parent.name, folder.name)
            for path in sorted(folder.iterdir()):
                if path.name.endswith(".json.gz"):
                    files.setdefault(key, []).append(path)
                else:
                    (notes if path.name == UNRUNNABLE_FILE else ignored).append(path)
    ordered = {key: tuple(paths) for key, paths in sorted(files.items())}
    return Tree(tuple(roots), ordered, tuple(notes), tuple(ignored))


def _folders(root: Path) -> Iterator[Path]:
    if root.is_dir():
        machines = sorted(path for path in root.iterdir() if path.is_dir())
        for machine in machines:
            yield from sorted(path for path in machine.iterdir() if path.is_dir())


def load_known_tags(path: Path = STACKS_FILE) -> frozenset[str]:
    """Read the tags of the published list of stacks; without the file there are none.

    Raises
    ------
    UsageError
        If the file cannot be read or is no TOML.
    """
    try:
        return frozenset(_tags(tomllib.loads(path.read_text(encoding="utf-8"))))
    except FileNotFoundError:
        return frozenset()
    except OSError as error:
        raise UsageError(_unreadable(error)) from error
    except (ValueError, RecursionError) as error:
        msg = f"{path} is no TOML: {error}"
        raise UsageError(msg) from error


def _tags(value: Any) -> Iterator[str]:
    """Every string under a key `tag`, however the list of stacks is laid out."""
    if isinstance(value, dict):
        tag = value.get("tag")
        if isinstance(tag, str):
            yield tag
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _tags(item)
