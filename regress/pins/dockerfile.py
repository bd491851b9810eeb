"""Pins in Dockerfiles: `ARG FLASHINFER_VERSION=0.6.1`, and versions in a `pip install`."""

import re
from collections.abc import Iterator
from typing import Final

from packaging.utils import canonicalize_name

from regress.pins.pin import LIBRARIES, Pin, exact, library_of

__all__ = ["ALIASES", "parse_dockerfile"]

ALIASES: Final = {
    "flashinfer": "flashinfer-python",
    "fa3": "fa3-fwd",
    "flash-attention": "flash-attn",
}
"""Other names that arguments use: `X_VERSION` is the version of the library or alias `x`."""

_SETS: Final = re.compile(r"\s*(?:ARG|ENV)\s+(.*)", re.IGNORECASE)
_CONTINUED: Final = re.compile(r"\\[ \t\r]*\n(?:[ \t\r]*(?:#.*)?\n)*")
"""Comments and empty lines do not end what is continued."""
_VALUE: Final = re.compile(r"""(?<!\w)(\w{1,80})=("[^"]*"|'[^']*'|\S*)""")
_INSTALLS: Final = re.compile(
    r"""(?<![\w.$-])([A-Za-z][\w.-]*)(?:\[[^\]]{0,80}\])?={2,3}([^\s"';|&,\\]+)"""
)


def parse_dockerfile(text: str, file: str) -> Iterator[Pin]:
    """Yield the pins of a Dockerfile; a value made of other variables is no exact pin."""
    for line in _CONTINUED.sub(" ", text).split("\n"):
        sets = _SETS.match(line)
        if sets:
            yield from _arguments(sets[1], file)
        elif not line.lstrip().startswith("#"):
            yield from _installed(line, file)


def _arguments(text: str, file: str) -> Iterator[Pin]:
    for name, value in _VALUE.findall(text):
        library = _library_of_argument(name)
        bare = value.strip("\"'")
        if library and bare:
            asked = f"{name}={bare}"
            yield (
                Pin(library, file, asked) if "$" in bare[:1] else exact(library, file, bare, asked)
            )


def _installed(line: str, file: str) -> Iterator[Pin]:
    for name, version in _INSTALLS.findall(line):
        library = library_of(name)
        # `==${VERSION}` is said where the variable is set.
        if library and not version.startswith("$"):
            yield exact(library, file, version)


def _library_of_argument(name: str) -> str | None:
    stem = name.upper().removesuffix("_VERSION")
    known = canonicalize_name(stem)
    library = ALIASES.get(known, known)
    return library if stem != name.upper() and library in LIBRARIES else None
