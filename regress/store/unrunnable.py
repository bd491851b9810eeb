"""Notes of stacks that cannot be measured, which stand where their rounds would."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from regress.errors import UsageError
from regress.store.tree import Tree
from workloads.unrunnable import Unrunnable

__all__ = ["load_unrunnable", "unmeasured"]

_LARGEST_BYTES: Final = 1024 * 1024


def load_unrunnable(path: Path) -> Unrunnable:
    """Read a note.

    Raises
    ------
    UsageError
        If it is none, or of another machine or stack than its place says.
    """
    try:
        if not path.is_file():
            msg = f"{path} is no regular file: remove it"
            raise UsageError(msg)
        with path.open("rb") as file:
            note = msgspec.json.decode(file.read(_LARGEST_BYTES), type=Unrunnable)
    except (OSError, msgspec.DecodeError) as error:
        msg = f"{path} is no note of a stack that cannot be measured: {error}"
        raise UsageError(msg) from error
    if (note.machine, note.tag) != (path.parent.parent.name, path.parent.name):
        msg = f"{path} is about {note.tag} on {note.machine}"
        raise UsageError(msg)
    return note


def unmeasured(tree: Tree, machine: str) -> Iterator[str]:
    """Tell why stacks of a machine have no rounds, a line each; of a damaged note what it lacks."""
    measured = tree.tags(machine)
    for path in tree.notes:
        if path.parent.parent.name != machine:
            continue
        try:
            note = load_unrunnable(path)
        except UsageError as error:
            yield str(error)
            continue
        if note.tag not in measured:
            yield f"{note.tag} has no rounds, as it could not be measured: {note.reason}"
