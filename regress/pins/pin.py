"""A pin: what a file asks for of one library that the suite measures."""

import re
from dataclasses import dataclass
from typing import Final

from packaging.specifiers import Specifier
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from workloads.backend import BACKENDS

__all__ = ["LIBRARIES", "Pin", "PinFileError", "exact", "library_of", "version_asked"]

LIBRARIES: Final = tuple(
    sorted({backend.library for backend in BACKENDS} - {"torch", "none"}, reverse=True)
)
"""The libraries whose kernels are measured; pins of others are nobody's business here."""

_NAME: Final = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", re.ASCII)
_LONGEST_VERSION: Final = 64


class PinFileError(ValueError):
    """A file of pins cannot be read; the message goes after the file's name."""


@dataclass(frozen=True, slots=True)
class Pin:
    """What one file asks for of one library.

    Attributes
    ----------
    library
        Its normalised name (PEP 503).
    file
        Path in the repository.
    asked
        The words of the file: untrusted text, to be shown and nothing else.
    version
        Canonical version (PEP 440) of an exact pin; None if it is not one.
    wrong
        Whether it means to name a version and does not.
    elsewhere
        Whether it is taken from a URL, a repository or a folder, and not from a package index.
    """

    library: str
    file: str
    asked: str
    version: str | None = None
    wrong: bool = False
    elsewhere: bool = False


def library_of(text: str) -> str | None:
    """Return the measured library whose name a requirement begins with, if it does."""
    found = _NAME.match(text)
    name = canonicalize_name(found[1]) if found else ""
    return name if name in LIBRARIES else None


def exact(library: str, file: str, version: str, asked: str | None = None) -> Pin:
    """Return the pin of a library at what should be one version."""
    asked = f"{library}=={version}" if asked is None else asked
    canonical = _canonical(version)
    return Pin(library, file, asked, canonical, wrong=canonical is None)


def _canonical(version: str) -> str | None:
    if len(version) > _LONGEST_VERSION:
        return None
    try:
        return str(Version(version))
    except InvalidVersion:
        return None


def version_asked(specifiers: list[Specifier]) -> str | None:
    """Return the one version that specifiers ask for; None if they ask for a range."""
    named = [s.version for s in specifiers if s.operator in {"==", "==="}]
    return named[0] if len(named) == 1 and not named[0].endswith(".*") else None
