"""Round files: written once, whole or not at all, and read strictly."""

import gzip
import os
import tempfile
import zlib
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.errors import UserError
from workloads.record import SCHEMA, Round

__all__ = ["QUICK", "is_quick", "load_round", "load_rounds", "round_files", "write_round"]

QUICK: Final = "quick"
"""Warning code of a round that only tries out whether every case runs."""
_SUFFIX: Final = ".json.gz"


class _Header(msgspec.Struct):
    schema: int


def is_quick(round_: Round) -> bool:
    """Whether a round only tried out its cases, so that its times are no results."""
    return QUICK in round_.warnings


def write_round(round_: Round, directory: Path) -> Path:
    """Write a round to `directory/<machine>/<stack>/<start>-<id>.json.gz`.

    Equal rounds give equal bytes.

    Raises
    ------
    UserError
        If there is such a file already, or the directory cannot be written.
    """
    started = datetime.fromisoformat(round_.started_at).strftime("%Y%m%dT%H%M%SZ")
    folder = directory / round_.machine.name / round_.stack.tag
    path = folder / f"{started}-{round_.id}{_SUFFIX}"
    content = gzip.compress(msgspec.json.encode(round_, order="deterministic"), mtime=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_new(path, content)
    except FileExistsError as error:
        msg = f"{path} exists: a round file is never overwritten"
        raise UserError(msg) from error
    except OSError as error:
        msg = f"cannot write {path}: {error}"
        raise UserError(msg) from error
    return path


def _write_new(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".round-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), 0o644)
        # A link fails where the name is taken; a rename would overwrite.
        os.link(temporary, path)
    finally:
        Path(temporary).unlink()


def load_round(path: Path) -> Round:
    """Read a round file.

    Raises
    ------
    UserError
        If it cannot be read, is cut off, corrupt, of another schema, or has other fields.
    """
    try:
        text = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        msg = f"{path} is no whole round file ({error}): remove it or fetch it again"
        raise UserError(msg) from error
    try:
        schema = msgspec.json.decode(text, type=_Header).schema
        if schema != SCHEMA:
            msg = f"{path} has round schema {schema}, this checkout reads {SCHEMA}"
            raise UserError(msg)
        round_ = msgspec.json.decode(text, type=Round)
        datetime.fromisoformat(round_.started_at)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        msg = f"{path} is no round file: {error}"
        raise UserError(msg) from error
    return round_


def round_files(directory: Path) -> list[Path]:
    """Return the paths of all round files under a directory, in order."""
    return sorted(directory.rglob(f"*{_SUFFIX}"))


def load_rounds(directory: Path) -> tuple[Round, ...]:
    """Read every round file under a directory, ordered by start and id.

    Raises
    ------
    UserError
        If any of them cannot be read, or two files hold different rounds of one id.
    """
    rounds: dict[str, Round] = {}
    for path in round_files(directory):
        round_ = load_round(path)
        if rounds.setdefault(round_.id, round_) != round_:
            msg = f"{path}: another file holds a different round with the id {round_.id}"
            raise UserError(msg)
    return tuple(sorted(rounds.values(), key=lambda r: (r.started_at, r.id)))
