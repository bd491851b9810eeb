"""Which files hold pins, and how each kind is read."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from regress.pins.dockerfile import parse_dockerfile
from regress.pins.pattern import Pattern, parse_by_patterns
from regress.pins.pin import Pin
from regress.pins.requirement import parse_requirements
from regress.pins.toml_files import parse_lock, parse_pyproject

__all__ = ["GLOBS", "holds_pins", "parse_pins"]

_KINDS: Final[tuple[tuple[str, Callable[[str, str], Iterator[Pin]]], ...]] = (
    ("pyproject.toml", parse_pyproject),
    ("uv.lock", parse_lock),
    ("poetry.lock", parse_lock),
    ("pylock*.toml", parse_lock),
    ("Dockerfile*", parse_dockerfile),
    ("*.Dockerfile", parse_dockerfile),
    ("*.txt", parse_requirements),
    ("*.in", parse_requirements),
)
GLOBS: Final = (
    "pyproject.toml",
    "uv.lock",
    "poetry.lock",
    "pylock*.toml",
    "Dockerfile*",
    "*.Dockerfile",
    "requirements*.txt",
    "requirements*.in",
    "requirements/*.txt",
    "requirements/*.in",
)
"""Files that are looked at, wherever they lie, if none are named."""


def holds_pins(path: str, globs: Sequence[str]) -> bool:
    """Whether a path is one of the files of pins; globs are matched from the right."""
    return any(PurePosixPath(path).match(glob) for glob in globs)


def parse_pins(text: str, file: str, patterns: Sequence[Pattern]) -> tuple[Pin, ...]:
    """Return the pins of a file, by its name; patterns are looked for in every file.

    Raises
    ------
    PinFileError
        If the file is not what its name says.
    """
    text = text.removeprefix("\ufeff")
    name = PurePosixPath(file).name
    kinds = [parse for glob, parse in _KINDS if PurePosixPath(name).match(glob)]
    found = [*kinds[0](text, file)] if kinds else []
    return (*found, *parse_by_patterns(text, file, patterns))
