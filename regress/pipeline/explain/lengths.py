"""KV lengths from files: one batch, or a trace with one batch a line."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from regress.errors import UsageError

__all__ = ["MOST_REQUESTS", "MOST_TOKENS", "Step", "check_lengths", "load_lengths", "load_trace"]

MOST_TOKENS: Final = 1 << 22
"""KV tokens of one request, four times the longest context that models offer today."""
MOST_REQUESTS: Final = 1 << 14
_SEPARATORS: Final = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True)
class Step:
    """One decode step of a trace.

    Attributes
    ----------
    line
        Where it stands in the file, from 1.
    kv_lens
        KV tokens of each request.
    """

    line: int
    kv_lens: tuple[int, ...]


def load_lengths(path: Path) -> tuple[int, ...]:
    """Read KV lengths of one batch: a JSON list, or numbers divided by lines or commas.

    Raises
    ------
    UsageError
        If the file cannot be read or a length is wrong; the message says which.
    """
    return _parse(_read(path), str(path))


def load_trace(path: Path) -> tuple[Step, ...]:
    """Read a serving trace: on each line the KV lengths of one step, as JSON list or CSV.

    Raises
    ------
    UsageError
        If the file cannot be read, is empty, or a length is wrong; the message names the line.
    """
    lines = _read(path).splitlines()
    steps = tuple(
        Step(number, _parse(line, f"{path}, line {number}"))
        for number, line in enumerate(lines, 1)
        if line.strip()
    )
    if not steps:
        msg = f"{path} holds no step: give one line a step, each with the KV lengths of its batch"
        raise UsageError(msg)
    return steps


def check_lengths(lengths: Iterable[int], where: str) -> tuple[int, ...]:
    """Return the lengths if they are ones that can be planned.

    Raises
    ------
    UsageError
        If there is none or too many, or one is below 1 or too long.
    """
    found = tuple(lengths)
    if not found:
        msg = f"{where} holds no KV length: a batch has at least 1 request"
        raise UsageError(msg)
    if len(found) > MOST_REQUESTS:
        msg = f"{where} holds {len(found):,} requests, more than the {MOST_REQUESTS:,} allowed"
        raise UsageError(msg)
    if min(found) < 1:
        msg = f"{where} has a KV length of {min(found)}: every request has at least 1 token"
        raise UsageError(msg)
    if max(found) > MOST_TOKENS:
        msg = f"{where} has a KV length of {max(found):,}, more than the {MOST_TOKENS:,} allowed"
        raise UsageError(msg)
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        msg = f"cannot read {path}: {reason}"
        raise UsageError(msg) from error


def _parse(text: str, where: str) -> tuple[int, ...]:
    text = text.strip()
    if text.startswith("["):
        try:
            return check_lengths(msgspec.json.decode(text, type=tuple[int, ...]), where)
        except msgspec.MsgspecError as error:
            msg = f"{where} is no JSON list of whole numbers: {error}"
            raise UsageError(msg) from error
    return check_lengths([_number(word, where) for word in _SEPARATORS.split(text) if word], where)


def _number(word: str, where: str) -> int:
    try:
        return int(word)
    except ValueError:
        msg = f"{where} has {word[:40]!r}, which is no whole number of KV tokens"
        raise UsageError(msg) from None
