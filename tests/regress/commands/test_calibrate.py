"""The command `calibrate`."""

import sys
from pathlib import Path

import msgspec
import pytest

import regress.commands.calibrate as command
from regress.cli import main
from regress.model.calibration import Calibration
from tests.regress.builders import write_rounds
from tests.regress.pipeline.twins import twin_rounds

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    write_rounds(tmp_path, [r for found in twin_rounds().values() for r in found])
    options = ["--twins", "v1,v2", "--gates", "4", "--workers", "1", "--rounds", str(tmp_path)]
    return ["calibrate", *options]


def test_it_prints_and_keeps_nothing(
    arguments: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without --write only text comes out, and the exit code is 0."""
    monkeypatch.setattr(command, "write_calibration", None)
    monkeypatch.setattr(command, "write_page", None)
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "What is to be reached" in out
    assert "Reproduce: python -m regress calibrate --twins v1,v2" in out


def test_json_is_the_calibration(arguments: list[str], capsys: Capture) -> None:
    """It reads back as what is stored."""
    assert main([*arguments, "--format", "json"]) == 0
    told = msgspec.json.decode(capsys.readouterr().out, type=Calibration)
    assert (told.gates, told.twins) == (4, ("v1", "v2"))


def test_write_keeps_it(
    arguments: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --write the result and its page are stored, and it is printed as well."""
    kept: list[Calibration] = []
    monkeypatch.setattr(command, "write_calibration", kept.append)
    monkeypatch.setattr(command, "write_page", kept.append)
    assert main([*arguments, "--write"]) == 0
    assert [told.gates for told in kept] == [4, 4]
    assert "What is to be reached" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("extra", "code", "words"),
    [
        (["--twins", "v1"], 2, "--twins v1: name two stacks"),
        (["--twins", "v1,v9"], 2, "unknown stack 'v9'"),
        (["--tier", "nightly"], 4, "no campaign has 8 rounds of v1 and v2"),
    ],
)
def test_what_cannot_be_calibrated_is_one_line(
    arguments: list[str], capsys: Capture, extra: list[str], code: int, words: str
) -> None:
    """Wrong twins are usage, missing rounds are no data."""
    assert main([*arguments, *extra]) == code
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_no_gates_are_refused(arguments: list[str], capsys: Capture) -> None:
    """Nothing could be said of none."""
    with pytest.raises(SystemExit, match="2"):
        main([*arguments, "--gates", "0"])
    assert "0 gates are none" in capsys.readouterr().err


def test_missing_scipy_is_told(
    arguments: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one line says what to install."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("regress: calibrate needs scipy")
