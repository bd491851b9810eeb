"""Stored calibrations."""

from pathlib import Path

import msgspec
import pytest

from regress.errors import UsageError
from regress.model.calibration import Calibration
from regress.pipeline.calibrate.calibrate import calibrate
from regress.store.calibration import load_calibration, write_calibration
from regress.store.setup import setup
from tests.regress.builders import CONFIG, MACHINE, PROTOCOL
from tests.regress.pipeline.twins import twin_rounds, wanted
from workloads.record import Round

ROUND = twin_rounds(1, 6)["v1"][0]


@pytest.fixture(scope="module")
def told() -> Calibration:
    return calibrate(twin_rounds(), wanted(gates=4), CONFIG)


def test_it_is_found_by_gpu_model(told: Calibration, tmp_path: Path) -> None:
    """Kept under the model's name; another model has none."""
    path = write_calibration(told, tmp_path)
    assert path.name == "synthetic-gpu-20260102T000500Z.json"
    assert load_calibration(setup(ROUND), tmp_path) == told
    other = msgspec.structs.replace(MACHINE, gpu="Other GPU")
    assert load_calibration(setup(_with(machine=other)), tmp_path) is None


def _with(**fields: object) -> Round:
    return msgspec.structs.replace(ROUND, **fields)


def test_another_toolchain_fits_and_another_protocol_does_not(
    told: Calibration, tmp_path: Path
) -> None:
    """Noise belongs to the card and to how times are taken."""
    write_calibration(told, tmp_path)
    newer = msgspec.structs.replace(MACHINE, torch="3.0", driver="590.1")
    longer = msgspec.structs.replace(PROTOCOL, passes=9)
    assert load_calibration(setup(_with(machine=newer)), tmp_path) == told
    assert load_calibration(setup(_with(protocol=longer)), tmp_path) is None


@pytest.mark.parametrize(
    ("data", "words"), [(b"{", "is no calibration"), (b'{"schema": 1}', "is no calibration")]
)
def test_a_damaged_file_is_one_line(tmp_path: Path, data: bytes, words: str) -> None:
    """It says how to make it again."""
    (tmp_path / "synthetic-gpu-20260101T000000.json").write_bytes(data)
    with pytest.raises(UsageError, match=words) as error:
        load_calibration(setup(ROUND), tmp_path)
    assert "calibrate --recorded --write" in str(error.value)
    assert "\n" not in str(error.value)


def test_another_schema_is_told(told: Calibration, tmp_path: Path) -> None:
    """Not read as if it were this one."""
    write_calibration(msgspec.structs.replace(told, schema=99), tmp_path)
    with pytest.raises(UsageError, match="of schema 99"):
        load_calibration(setup(ROUND), tmp_path)


def test_rounds_are_judged_by_an_older_calibration(told: Calibration, tmp_path: Path) -> None:
    """The latest one made before the rounds counts, so that floors never move afterwards."""
    newer = msgspec.structs.replace(told, until="2027-01-01T00:00:00+00:00", gates=5)
    write_calibration(told, tmp_path)
    write_calibration(newer, tmp_path)
    key = setup(ROUND)
    assert load_calibration(key, tmp_path) == newer
    assert load_calibration(key, tmp_path, before="2027-01-01T00:00:00+00:00") == told
    assert load_calibration(key, tmp_path, before="2027-01-01T00:00:01+00:00") == newer
    assert load_calibration(key, tmp_path, before=told.until) is None
    assert load_calibration(key, tmp_path, before=told.until, or_first=True) == told
