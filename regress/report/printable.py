"""Text of round files, file names and arguments, made safe for a terminal."""

from typing import Any, TypeVar

import msgspec

__all__ = ["escape", "printable"]

_Result = TypeVar("_Result", bound=msgspec.Struct)


def escape(text: str) -> str:
    r"""Return the text with every character escaped that would not be shown, e.g. `\x1b`."""
    return text if text.isprintable() else "".join(map(_character, text))


def printable(result: _Result) -> _Result:
    """Return the structure with every text escaped.

    Line breaks and terminal codes in a reason would otherwise forge lines of a report, and file
    names that are no UTF-8 can be neither shown nor written as JSON.
    """
    return msgspec.convert(_escaped(msgspec.to_builtins(result)), type(result))


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, dict):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_escaped(item) for item in value]
    return value


def _character(one: str) -> str:
    return one if one.isprintable() else one.encode("unicode_escape").decode()
