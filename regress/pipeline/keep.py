"""Keeping round files: checked, never changed, never overwritten."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from regress.counted import counted
from regress.errors import UsageError
from regress.output import write_file
from regress.pipeline.nights import start_of
from regress.store.load import load_round
from regress.store.tree import scan
from regress.store.unrunnable import load_unrunnable
from workloads.record import Round
from workloads.unrunnable import UNRUNNABLE_FILE

__all__ = ["Kept", "keep"]

_CLOCKS_DIFFER: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of round files.

    Attributes
    ----------
    new
        How many were kept, by stack tag.
    present
        How many were there already, the same.
    refused
        Why others were not kept, one line each.
    """

    new: dict[str, int]
    present: int
    refused: tuple[str, ...]

    def render(self) -> str:
        """Return it in one line; what was refused is told elsewhere."""
        named = ", ".join(f"{number} of {tag}" for tag, number in self.new.items())
        told = f": {named}" if named else ""
        more = f", {self.present} were kept before" if self.present else ""
        return f"{counted(sum(self.new.values()), 'new round')}{told}{more}\n"


def keep(source: Path, target: Path, machine: str | None = None) -> Kept:
    """Copy the round files of one folder into another.

    Why a stack cannot be measured is kept too, for as long as there are no rounds of it.

    Parameters
    ----------
    source, target
        Folders of `<machine>/<stack tag>/*.json.gz`.
    machine
        The only one whose rounds are expected, None for any.

    Raises
    ------
    UsageError
        If a folder cannot be read or written.
    """
    new: Counter[str] = Counter()
    present, refused = 0, []
    tree = scan((source,))
    for (name, tag), paths in tree.files.items():
        if machine not in {None, name}:
            refused.append(f"{source / name}: rounds of another machine than {machine}")
            continue
        folder = target / name / tag
        digest = _digest_of(folder)
        for path in paths:
            try:
                found = _checked(path, digest)
                is_new = _put(path, folder / path.name)
            except UsageError as error:
                refused.append(str(error))
                continue
            digest = found.stack.digest
            new[tag] += is_new
            present += not is_new
            (folder / UNRUNNABLE_FILE).unlink(missing_ok=True)
    for path in tree.notes:
        if machine in {None, path.parent.parent.name}:
            try:
                _keep_note(path, target / path.relative_to(source))
            except UsageError as error:
                refused.append(str(error))
    return Kept({tag: number for tag, number in new.items() if number}, present, tuple(refused))


def _digest_of(folder: Path) -> str | None:
    """Return which stack the rounds of a folder are of, None if there are none."""
    for path in _files(folder):
        return load_round(path).stack.digest
    return None


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from sorted(folder.glob("*.json.gz"))


def _checked(path: Path, digest: str | None) -> Round:
    found = load_round(path)
    if (found.machine.name, found.stack.tag) != (path.parent.parent.name, path.parent.name):
        msg = f"{path} holds a round of {found.stack.tag} on {found.machine.name}"
        raise UsageError(msg)
    if start_of(found) > datetime.now(UTC) + _CLOCKS_DIFFER:
        # It would pass for tonight's every night, and data would never be missing again.
        msg = f"{path} began at {found.started_at}, which is still to come: set its host's clock"
        raise UsageError(msg)
    if digest not in {None, found.stack.digest}:
        msg = f"{path} is of another {found.stack.tag} than the rounds kept before: other wheels"
        raise UsageError(msg)
    return found


def _keep_note(path: Path, target: Path) -> None:
    """Copy the note of a stack without rounds; the last night's replaces an older one."""
    load_unrunnable(path)
    if not any(_files(target.parent)):
        _write(path.read_bytes(), target)


def _put(path: Path, target: Path) -> bool:
    """Copy a file unless it is there, and say whether it was new."""
    data = path.read_bytes()
    if target.exists():
        if target.read_bytes() != data:
            msg = f"{path} differs from the round that is kept under its name: {target}"
            raise UsageError(msg)
        return False
    _write(data, target)
    return True


def _write(data: bytes, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot write {target}: {error.strerror or error}"
        raise UsageError(msg) from error
    write_file(data, target)
