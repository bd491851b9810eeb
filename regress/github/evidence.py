"""What the jobs before left behind, read again with suspicion: all of it is data of another job."""

import shlex
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from regress.errors import ExitCode, NoDataError
from regress.model.bump import BUMP_SCHEMA, Bump
from regress.model.ending import Doctor, Measured
from regress.model.report import CHECK_SCHEMA, CheckReport

__all__ = ["Files", "load_measured", "load_passed_on"]

_LARGEST_BYTES: Final = 64 * 1024 * 1024
_LINES: Final = 10
_Struct = TypeVar("_Struct", Bump, CheckReport, Doctor)


class Files(msgspec.Struct, frozen=True):
    """Where they are; None, or no such file: it did not come back."""

    report: Path | None = None
    doctor: Path | None = None
    log: Path | None = None
    code: Path | None = None


def load_passed_on(path: Path) -> Bump:
    """Read what `bump` wrote.

    Raises
    ------
    NoDataError
        If it is missing or damaged.
    """
    bump, damage = _load(path, Bump)
    if bump is None or bump.schema != BUMP_SCHEMA:
        msg = f"{path} {damage or 'is of another version'}: the gate judged nothing, re-run its job"
        raise NoDataError(msg)
    return bump


def load_measured(files: Files, *, replayed: bool) -> Measured:
    """Read what the measuring job left; whatever is missing or damaged is simply not there."""
    report, damage = _load(files.report, CheckReport)
    if report and report.schema != CHECK_SCHEMA:
        damage = f"is of layout {report.schema}, and this is {CHECK_SCHEMA}"
        report = None
    doctor, _ = _load(files.doctor, Doctor)
    recorded = report is not None and "--recorded" in _words(report.command)
    return Measured(
        report,
        f"the report {damage}",
        doctor,
        _last_lines(files.log),
        _code(files.code),
        replayed or recorded,
    )


def _load(path: Path | None, kind: type[_Struct]) -> tuple[_Struct | None, str]:
    """Return the content, or None and what is wrong, as the end of a sentence."""
    if path is None or not path.is_file():
        return None, "did not come back"
    try:
        size = path.stat().st_size
        if not size or size > _LARGEST_BYTES:
            return None, f"has {size} bytes"
        return msgspec.json.decode(path.read_bytes(), type=kind), ""
    except (OSError, ValueError, RecursionError) as error:
        return None, f"is damaged ({error})"


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _last_lines(path: Path | None) -> tuple[str, ...]:
    if path is None or not path.is_file():
        return ()
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 64 * 1024))
        text = file.read().decode("utf-8", "replace")
    return tuple(line for line in text.splitlines() if line.strip())[-_LINES:]


def _code(path: Path | None) -> ExitCode | None:
    """Return the exit code that a file holds; one that is none of ours is none."""
    try:
        return ExitCode(int(path.read_text(encoding="utf-8"))) if path else None
    except (OSError, ValueError):
        return None
