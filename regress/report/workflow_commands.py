"""Lines that a runner of GitHub Actions obeys, and text that it must not obey.

A runner looks for commands in everything that a step prints: `::error::…` at the start of a line,
`##[…]` anywhere in it.
"""

from regress.report.printable import escape

__all__ = ["annotation", "harmless"]


def harmless(text: str) -> str:
    """Return text for a log, with no command in any of its lines."""
    return "".join(f"{_defused(line)}\n" for line in text.splitlines())


def _defused(line: str) -> str:
    """Return a line in which neither kind of command can be found."""
    text = escape(line).replace("##[", "## [")
    start = text.lstrip()
    return f": {start[1:]}" if start.startswith("::") else text


def annotation(level: str, title: str, message: str) -> str:
    """Return the command that shows a message beside a run: an error, a warning or a notice."""
    return f"::{level} title={_property(title)}::{_data(message)}\n"


def _data(text: str) -> str:
    """Escape what would end or alter a command's message; a line break stays one."""
    lines = "\n".join(map(_defused, text.splitlines()))
    return lines.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
