"""Stored calibrations, one a GPU model, beside the code that quotes them."""

import re
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


def path_of(gpu: str, folder: Path = CALIBRATIONS) -> Path:
    """Return where the calibration of a GPU model is kept."""
    return folder / f"{re.sub(r'[^a-z0-9]+', '-', gpu.lower()).strip('-')}.json"


def load_calibration(setup: Setup, folder: Path = CALIBRATIONS) -> Calibration | None:
    """Read what is known of noise and error rates under a set-up.

    GPU model, timer and protocol must agree. Toolchain and driver may differ: noise belongs to
    the card and to how times are taken.

    Raises
    ------
    UsageError
        If the file is damaged or of another schema.
    """
    wanted = dict(setup)
    path = path_of(str(wanted["gpu"]), folder)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise UsageError(msg) from error
    found = _parse(data, path)
    return found if _essence(found.setup) == _essence(wanted) else None


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
    """Keep a calibration, in place of an older one of its GPU model, and return its path.

    Raises
    ------
    UsageError
        If it cannot be written.
    """
    path = path_of(str(told.setup["gpu"]), folder)
    text = msgspec.json.format(msgspec.json.encode(told), indent=1)
    write_file(text.decode() + "\n", path)
    return path
