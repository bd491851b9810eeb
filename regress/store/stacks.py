"""The published list of stacks, read as data: which stack came after which, and where it stands."""

import re
import tomllib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from regress.errors import UsageError
from regress.store.tree import STACKS_FILE

__all__ = ["PublishedStack", "load_published"]


@dataclass(frozen=True, slots=True)
class PublishedStack:
    """One entry of the list, which is ordered by time.

    Attributes
    ----------
    line
        Line of its tag, from 1.
    libraries
        What it pins. Stacks that pin the same libraries are versions of one another.
    released
        When it became available, UTC, ISO 8601; empty if the list does not say.
    pins
        Libraries with their versions, in the list's order.
    """

    tag: str
    line: int
    libraries: frozenset[str]
    released: str = ""
    pins: tuple[tuple[str, str], ...] = ()


def load_published(path: Path = STACKS_FILE) -> tuple[PublishedStack, ...]:
    """Read the list, oldest first; without the file there are none.

    Raises
    ------
    UsageError
        If the file cannot be read or is no list of stacks.
    """
    try:
        text = path.read_text(encoding="utf-8")
        entries = tomllib.loads(text).get("stack", [])
        return tuple(_stack(entry, text) for entry in entries)
    except FileNotFoundError:
        return ()
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise UsageError(msg) from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        msg = f"{path} is no list of stacks: {error}"
        raise UsageError(msg) from error


def _stack(entry: dict[str, Any], text: str) -> PublishedStack:
    tag = str(entry["tag"])
    place = re.search(rf"^\s*tag\s*=\s*[\"']{re.escape(tag)}[\"']", text, re.MULTILINE)
    line = text.count("\n", 0, place.end()) + 1 if place else 1
    pins = {str(name): str(version) for name, version in entry["pins"].items()}
    released = entry.get("time")
    when = released.isoformat() if isinstance(released, datetime) else ""
    return PublishedStack(tag, line, frozenset(pins), when, tuple(pins.items()))
