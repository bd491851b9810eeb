"""Triage notes: pages whose head, TOML between two lines of `+++`, says what they explain."""

import re
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Final

import msgspec

from regress.errors import UsageError
from regress.model.note import Change, Note

__all__ = ["TRIAGE", "load_note_text", "load_notes", "parse_note"]

_CHECKOUT: Final = Path(__file__).parents[2]
TRIAGE: Final = _CHECKOUT / "regress" / "docs" / "triage"
"""Where the notes are; pages without a date in their name are no notes."""
_DATED: Final = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]-*.md"
_HEAD: Final = re.compile(r"\+\+\+\n(.*?\n)\+\+\+\n", re.DOTALL)
_WHERE: Final = "regress/docs/history.md says how a note begins"


def load_notes(folder: Path = TRIAGE) -> tuple[Note, ...]:
    """Read all notes, oldest first.

    Raises
    ------
    UsageError
        If a page cannot be read or its head is wrong.
    """
    return tuple(_load(folder))


def _load(folder: Path) -> Iterator[Note]:
    for page in sorted(folder.glob(_DATED)):
        path = page.relative_to(_CHECKOUT) if page.is_relative_to(_CHECKOUT) else page
        yield parse_note(_read(page, path), path.as_posix())


def load_note_text(path: str) -> str:
    """Return the Markdown below the head of a page.

    Parameters
    ----------
    path
        As notes name it, inside the checkout.

    Raises
    ------
    UsageError
        If the page cannot be read.
    """
    return _HEAD.sub("", _read(_CHECKOUT / path, Path(path)), count=1)


def _read(page: Path, path: Path) -> str:
    try:
        return page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"cannot read the note {path}: {getattr(error, 'strerror', None) or error}"
        raise UsageError(msg) from error


def parse_note(text: str, path: str) -> Note:
    """Return what the head of a page says.

    Raises
    ------
    UsageError
        If there is no head, it is no TOML, or a value is wrong.
    """
    head = _HEAD.match(text)
    if head is None:
        msg = f"{path}: does not begin with a head between two lines of `+++`; {_WHERE}"
        raise UsageError(msg)
    try:
        note = msgspec.toml.decode(head[1], type=Note)
    except (ValueError, RecursionError) as error:
        msg = f"{path}: {error}; {_WHERE}"
        raise UsageError(msg) from error
    wrong = next(filter(None, map(_wrong, note.change)), None)
    if wrong or not (note.change and note.title.strip()):
        msg = f"{path}: {wrong or 'needs a `title` and a `[[change]]`'}; {_WHERE}"
        raise UsageError(msg)
    return msgspec.structs.replace(note, path=path)


def _wrong(change: Change) -> str | None:
    if not change.verdicts:
        return "`verdicts` is empty"
    if change.up_to is not None and not 1 < change.up_to < inf:
        return f"`up_to` is {change.up_to}: give a factor above 1, e.g. 1.03"
    try:
        re.compile(change.cases)
    except (re.error, OverflowError, RecursionError) as error:
        return f"`cases` {change.cases!r} is no regular expression: {error}"
    return None
