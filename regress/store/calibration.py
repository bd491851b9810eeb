"""Stored calibrations by GPU model and time, beside the code that quotes them."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from regress.errors import UsageError
from regress.model.calibration import CALIBRATION_SCHEMA, Calibration
from regress.output import write_file
from regress.store.setup import Setup

__all__ = ["CALIBRATIONS", "load_calibration", "path_of", "write_calibration"]

CALIBRATIONS: Final = Path(__file__).parents[1] / "calibration"
_REMEDY: Final = "make it again: python -m regress calibrate --recorded --write"


def path_of(told: Calibration, folder: Path = CALIBRATIONS) -> Path:
    """Return where a calibration is kept: GPU model, then the time of its latest round."""
    stamp = re.sub(r"[-:]|[.+].*", "", told.until)
    return folder / f"{_slug(told.setup)}-{stamp}.json"


def load_calibration(
    setup: Setup,
    folder: Path = CALIBRATIONS,
    *,
    before: str | None = None,
    or_first: bool = False,
) -> Calibration | None:
    """Read what is known of noise and error rates under a set-up, None if nothing is.

    GPU model, timer and protocol must agree. Toolchain and driver may differ: noise belongs to
    the card and to how times are taken.

    Parameters
    ----------
    before
        Start of the rounds to be judged. The latest calibration that is older is taken, so that
        floors never rest on the rounds they judge, and never move afterwards.
    or_first
        Whether the first calibration of all will do if none is older: for rounds of the time before
        there was any. Their floors never move afterwards either.

    Raises
    ------
    UsageError
        If a file is damaged or of another schema.
    """
    wanted = dict(setup)
    first = None
    for path in sorted(folder.glob(f"{_slug(wanted)}-*.json"), reverse=True):
        found = _load(path)
        if _essence(found.setup) != _essence(wanted):
            continue
        if before is None or found.until < before:
            return found
        first = found
    return first if or_first else None


def _slug(setup: Mapping[str, str | int | float]) -> str:
    return re.sub(r"[^a-z0-9]+", "-", str(setup["gpu"]).lower()).strip("-")


def _load(path: Path) -> Calibration:
    try:
        return _parse(path.read_bytes(), path)
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise UsageError(msg) from error


def _parse(data: bytes, path: Path) -> Calibration:
    try:
        found = msgspec.json.decode(data, type=Calibration)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        msg = f"{path} is no calibration: {error}; {_REMEDY}"
        raise UsageError(msg) from error
    if found.schema != CALIBRATION_SCHEMA:
        msg = f"{path} is of schema {found.schema}, not {CALIBRATION_SCHEMA}: {_REMEDY}"
        raise UsageError(msg)
    return found


def _essence(setup: dict[str, str | int | float]) -> dict[str, str | int | float]:
    return {
        name: value
        for name, value in setup.items()
        if name in {"gpu", "timer"} or name.startswith("protocol ")
    }


def write_calibration(told: Calibration, folder: Path = CALIBRATIONS) -> Path:
    """Keep a calibration beside the older ones of its GPU model, and return its path.

    Raises
    ------
    UsageError
        If it cannot be written.
    """
    path = path_of(told, folder)
    text = msgspec.json.format(msgspec.json.encode(told), indent=1)
    write_file(text.decode() + "\n", path)
    return path
