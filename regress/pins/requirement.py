"""Requirements as PEP 508 writes them, and files of them as pip reads them."""

import re
from collections.abc import Iterator
from typing import Final

from packaging.markers import EvaluateContext, Marker, UndefinedEnvironmentName
from packaging.requirements import Requirement

from regress.pins.pin import Pin, exact, library_of, version_asked

__all__ = ["applies", "parse_requirement", "parse_requirements"]

_GATED_ON: Final = {
    "os_name": "posix",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "extra": "",
}
"""Where the libraries are measured; the Python version is that of the process."""

_COMMENT: Final = re.compile(r"\s*#")
_REST: Final = re.compile(r"(?:^|\s)(?:#|--?[A-Za-z]).*$", re.DOTALL)


def parse_requirement(text: str, file: str) -> Pin | None:
    """Return what a requirement asks for; None if it is about no library of ours, or not here."""
    library = library_of(text)
    if library is None:
        return None
    try:
        requirement = Requirement(text)
        here = requirement.marker is None or applies(requirement.marker)
    except (ValueError, RecursionError):
        return Pin(library, file, text, wrong=True)
    if not here:
        return None
    if requirement.url:
        return Pin(library, file, text, elsewhere=True)
    version = version_asked(list(requirement.specifier))
    return Pin(library, file, text) if version is None else exact(library, file, version, text)


def applies(marker: Marker, context: EvaluateContext = "requirement") -> bool:
    """Whether a marker holds where libraries are measured: Linux on x86_64.

    Parameters
    ----------
    context
        What it may speak of; only in a lock file are there extras and groups, of which none is
        asked for.

    Raises
    ------
    ValueError
        If it compares what cannot be compared, or is about something unknown.
    """
    try:
        return marker.evaluate(dict(_GATED_ON), context)
    except UndefinedEnvironmentName as error:
        msg = f"nobody knows {error} here"
        raise ValueError(msg) from error


def parse_requirements(text: str, file: str) -> Iterator[Pin]:
    """Yield the pins of a requirements file: hashes, options and comments are left aside.

    `-r` and `-c` are not followed: what they name is read if it is a file of pins itself.
    """
    for line in _lines(text):
        pin = parse_requirement(_REST.sub("", line).strip(), file)
        if pin:
            yield pin


def _lines(text: str) -> Iterator[str]:
    """Yield lines as pip joins them: what it would install must not hide behind a comment.

    It breaks at every character that Unicode calls a line break, and a comment is not continued.
    """
    parts: list[str] = []
    for line in text.splitlines():
        is_comment = bool(_COMMENT.match(line))
        parts.append(f" {line}" if is_comment else line)
        if is_comment or not line.endswith("\\"):
            yield "".join(parts)
            parts = []
        else:
            parts[-1] = line.strip("\\")
    if parts:
        yield "".join(parts)
