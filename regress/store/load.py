"""Reading one round file, and saying in one line what is wrong with it."""

import gzip
import zlib
from collections import Counter
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from regress.errors import UsageError
from workloads.record import SCHEMA, CaseRecord, Round, Status

__all__ = ["load_round", "parse_round"]

_DECODER = msgspec.json.Decoder(Round)
_REMEDY = "restore it, or remove it if its round may be lost"


def load_round(path: Path) -> Round:
    """Read a round file.

    Raises
    ------
    UsageError
        If it cannot be read, is damaged, or is no round of this schema.
    """
    try:
        data = gzip.decompress(path.read_bytes())
    except EOFError as error:
        msg = f"{path} is truncated: {_REMEDY}"
        raise UsageError(msg) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        msg = f"{path} is no intact gzip file ({error}): {_REMEDY}"
        raise UsageError(msg) from error
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise UsageError(msg) from error
    return parse_round(data, str(path))


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
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        msg = f"{name} holds no JSON ({error}): {_REMEDY}"
        raise UsageError(msg) from error
    if found.schema != SCHEMA:
        raise UsageError(_wrong_schema(found.schema, name))
    _check_cases(found, name)
    return found


def _explain(data: bytes, name: str, error: Exception) -> str:
    """Prefer the schema's version over whatever field happened to fail first."""
    raw: Any = msgspec.json.decode(data)
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


def _check_cases(found: Round, name: str) -> None:
    twice = [case for case, n in Counter(r.case for r in found.cases).items() if n > 1]
    if twice:
        msg = f"{name} holds {twice[0]} more than once: measure the round again"
        raise UsageError(msg)
    for record in found.cases:
        if problem := _contradiction(record):
            msg = f"{name}: {record.case} {problem}: measure the round again"
            raise UsageError(msg)


def _contradiction(record: CaseRecord) -> str | None:
    if (record.status is Status.MEASURED) != bool(record.kernel_us):
        return f"is {record.status} with {len(record.kernel_us)} pass times"
    numbers = (*record.kernel_us, *record.plan_us)
    if not all(isfinite(v) and v > 0 for v in numbers):
        return "has a time that is not above 0"
    if record.error is not None and not (isfinite(record.error) and record.error >= 0):
        return "has an error that is no number from 0 up"
    return None
