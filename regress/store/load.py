"""Reading one round file, and saying in one line what is wrong with it."""

import gzip
import stat
import zlib
from collections import Counter
from datetime import datetime, timedelta
from functools import lru_cache
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any, Final

import msgspec

from regress.errors import UsageError
from workloads import catalog
from workloads.record import SCHEMA, CaseRecord, Design, Round, Status

__all__ = ["load_round", "parse_round"]

_DECODER = msgspec.json.Decoder(Round)
_REMEDY: Final = "restore it, or remove it if its round may be lost"
_NO_JSON: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_TIERS: Final = (*catalog.TIERS, "custom")
# A clock cycle takes longer, no kernel here a quarter of an hour; beyond, ratios overflow.
_LEAST_US: Final = 1e-6
_MOST_US: Final = 1e9
_MOST_MHZ: Final = 1_000_000
_MOST_BLOCKS: Final = 10_000
_LARGEST_BYTES: Final = 64 * 1024 * 1024
"""A small file can unpack to more than memory holds; a round has about half a MiB."""
_MOST_KEPT: Final = 1024
"""Rounds that stay in memory: making all documents reads the recorded ones a dozen times."""
_SMALL_BYTES: Final = 32 * 1024
"""Only files up to that size stay: those of the largest tier would fill the memory."""


def load_round(path: Path) -> Round:
    """Read a round file; the very same bytes are not decoded again.

    Raises
    ------
    UsageError
        If it cannot be read, is damaged, or is no round of this schema.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            # Reading a pipe would wait for somebody to write into it.
            msg = f"{path} is no regular file: remove it"
            raise UsageError(msg)
        packed = path.read_bytes()
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise UsageError(msg) from error
    return (_unpack if len(packed) <= _SMALL_BYTES else _unpack.__wrapped__)(packed, str(path))


@lru_cache(_MOST_KEPT)
def _unpack(packed: bytes, name: str) -> Round:
    try:
        with gzip.open(BytesIO(packed)) as file:
            data = file.read(_LARGEST_BYTES + 1)
    except EOFError as error:
        msg = f"{name} is truncated: {_REMEDY}"
        raise UsageError(msg) from error
    except (OSError, zlib.error) as error:
        msg = f"{name} is no intact gzip file ({error}): {_REMEDY}"
        raise UsageError(msg) from error
    if len(data) > _LARGEST_BYTES:
        msg = f"{name} unpacks to more than {_LARGEST_BYTES} bytes, which is no round: remove it"
        raise UsageError(msg)
    return parse_round(data, name)


def parse_round(data: bytes, name: str) -> Round:
    """Return the round written in JSON; `name` stands in messages.

    Raises
    ------
    UsageError
        If the bytes are no round of this schema, or contradict themselves.
    """
    try:
        found = _DECODER.decode(data)
    except msgspec.ValidationError as error:
        raise UsageError(_explain(data, name, error)) from error
    except _NO_JSON as error:
        msg = f"{name} holds no JSON ({error}): {_REMEDY}"
        raise UsageError(msg) from error
    if found.schema != SCHEMA:
        raise UsageError(_wrong_schema(found.schema, name))
    if problem := _misfit(found):
        msg = f"{name} {problem}: measure the round again"
        raise UsageError(msg)
    _check_cases(found, name)
    return found


def _explain(data: bytes, name: str, error: Exception) -> str:
    """Prefer the schema's version over whatever field happened to fail first."""
    try:
        raw: Any = msgspec.json.decode(data)
    except _NO_JSON:
        raw = None  # Damaged further on, too: what failed first is as good a reason.
    schema = raw.get("schema") if isinstance(raw, dict) else None
    if isinstance(schema, int) and schema != SCHEMA:
        return _wrong_schema(schema, name)
    return f"{name} is no round file: {error}"


def _wrong_schema(schema: int, name: str) -> str:
    age = "a newer" if schema > SCHEMA else "an older"
    return (
        f"{name} was written by {age} suite (schema {schema}, this one reads {SCHEMA}): "
        "judge it with that suite, or measure again"
    )


def _misfit(found: Round) -> str | None:
    if not found.id.strip():
        return "has no round id"
    if found.tier not in _TIERS:
        return f"is of an unknown tier {found.tier!r} (known: {', '.join(_TIERS)})"
    if not _is_utc(found.started_at):
        return f"has a start {found.started_at!r} that is no UTC time in ISO 8601"
    if found.design and (problem := _misplaced(found.design, found.stack.tag)):
        return problem
    planned, held = found.design.cases if found.design else 0, len(found.cases)
    if planned not in {0, held}:
        return f"holds {held} cases and {planned} were planned"
    return None if found.cases else "holds no case"


def _misplaced(design: Design, tag: str) -> str | None:
    """Return what is wrong with a round's place in its run: what is missing is told by it."""
    if design.stacks.count(tag) != 1:
        return f"is of {tag}, and planned for {' and '.join(design.stacks) or 'no stack'}"
    if not 1 <= design.block <= design.blocks <= _MOST_BLOCKS:
        return f"is block {design.block} of {design.blocks}"
    return None


def _is_utc(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).utcoffset() == timedelta(0)
    except ValueError:
        return False


def _check_cases(found: Round, name: str) -> None:
    twice = [case for case, n in Counter(r.case for r in found.cases).items() if n > 1]
    if twice:
        msg = f"{name} holds {twice[0]} more than once: measure the round again"
        raise UsageError(msg)
    for record in found.cases:
        if problem := _contradiction(record, found.protocol.passes):
            msg = f"{name}: {record.case} {problem}: measure the round again"
            raise UsageError(msg)


def _contradiction(record: CaseRecord, passes: int) -> str | None:
    if len(record.kernel_us) != (passes if record.status is Status.MEASURED else 0):
        return f"is {record.status} with {len(record.kernel_us)} pass times, of {passes} passes"
    if not all(_LEAST_US <= v <= _MOST_US for v in (*record.kernel_us, *record.plan_us)):
        return f"has a time outside of {_LEAST_US:g} to {_MOST_US:g} us"
    if not all(0 <= mhz <= _MOST_MHZ for mhz in record.sm_mhz):
        return f"has a clock outside of 0 to {_MOST_MHZ} MHz"
    if record.error is not None and not (isfinite(record.error) and record.error >= 0):
        return "has an error that is no number from 0 up"
    return None
