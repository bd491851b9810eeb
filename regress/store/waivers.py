"""The file of waivers: strict TOML, one clear line for each mistake."""

import re
from datetime import date, datetime, time
from math import inf
from pathlib import Path
from typing import Any, Final

import msgspec

from regress.errors import UsageError
from regress.model.verdict import Verdict
from regress.model.waiver import WAIVABLE, Waiver

__all__ = ["WAIVERS_FILE", "load_waivers", "parse_waivers"]

WAIVERS_FILE: Final = Path(__file__).parents[2] / "waivers.toml"
"""The checkout's own waivers, which are read without being named if they exist."""
_VERSION: Final = 1
_DATES: Final = (datetime, date, time)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    waiver: tuple[dict[str, Any], ...] = ()


def load_waivers(path: Path) -> tuple[Waiver, ...]:
    """Read a file of waivers.

    Raises
    ------
    UsageError
        If the file cannot be read or is wrong: a waiver that nobody understands waives nothing.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"cannot read the waivers {path}: {getattr(error, 'strerror', None) or error}"
        raise UsageError(msg) from error
    return parse_waivers(text, str(path))


def parse_waivers(text: str, name: str) -> tuple[Waiver, ...]:
    """Return the waivers in TOML text; `name` stands in messages.

    Raises
    ------
    UsageError
        If the text is no TOML, has an unknown key, a wrong value or another version.
    """
    try:
        values = msgspec.toml.decode(text, type=dict[str, Any])
    except (ValueError, RecursionError) as error:
        msg = f"{name} is no TOML: {error}"
        raise UsageError(msg) from error
    version = values.get("version", "none")
    if version != _VERSION or isinstance(version, bool):
        msg = f"{name}: needs `version = {_VERSION}`, has {version}"
        raise UsageError(msg)
    try:
        found = msgspec.convert(values, _File, builtin_types=_DATES)
    except msgspec.ValidationError as error:
        msg = f"{name}: {error}; waivers are `[[waiver]]` tables"
        raise UsageError(msg) from error
    return tuple(
        _waiver(table, f"{name}: waiver {number}") for number, table in enumerate(found.waiver, 1)
    )


def _waiver(table: dict[str, Any], where: str) -> Waiver:
    try:
        waiver = msgspec.convert(table, Waiver, builtin_types=_DATES)
    except msgspec.ValidationError as error:
        msg = f"{where}: {error}; regress/docs/waivers.md has the keys"
        raise UsageError(msg) from error
    wrong = _wrong(waiver)
    if wrong:
        msg = f"{where}: {wrong}"
        raise UsageError(msg)
    return waiver


def _wrong(waiver: Waiver) -> str | None:
    """Return what is wrong with a waiver whose types are right."""
    for key in ("since", "reason", "owner"):
        if not getattr(waiver, key).strip():
            return f"`{key}` is empty"
    if waiver.until is not None and waiver.until in {"", waiver.since}:
        return "`until` must name a stack after `since`; leave it out if there is none yet"
    return _bad_pattern(waiver.cells) or _bad_verdicts(waiver.verdicts) or _bad_limit(waiver)


def _bad_pattern(pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"`cells` {pattern!r} is no regular expression: {error}"
    return None


def _bad_verdicts(verdicts: tuple[Verdict, ...]) -> str | None:
    for verdict in verdicts:
        if verdict not in WAIVABLE:
            return f"{verdict} cannot be waived, only {', '.join(WAIVABLE)}"
    return None if verdicts else "`verdicts` is empty; leave it out to accept a REGRESSION"


def _bad_limit(waiver: Waiver) -> str | None:
    if waiver.up_to is None:
        return None
    if not 1 < waiver.up_to < inf:
        return f"`up_to` is {waiver.up_to}: give the largest ratio to accept, e.g. 1.2"
    if waiver.verdicts != (Verdict.REGRESSION,):
        return "`up_to` bounds a REGRESSION: put other verdicts into a waiver of their own"
    return None
