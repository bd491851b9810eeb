"""The command line: one line for what the user can put right."""

import errno
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import cli
from benchmarks.rounds import write_round
from benchmarks.stacks_command import render_stacks
from tests.benchmarks.synthetic import stack, synthetic_round

ROOT = Path(__file__).parents[2]


def test_a_user_error_is_one_line_and_exit_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bad input is no traceback."""
    monkeypatch.setattr("benchmarks.export.ROUNDS", tmp_path)
    assert cli.main(["export"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: no rounds to export in ")
    assert err.count("\n") == 1


def test_a_corrupt_round_stops_the_export(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that cannot be read is named; nothing is exported around it."""
    path = write_round(synthetic_round(stack("v1")), tmp_path)
    path.write_bytes(path.read_bytes()[:40])
    monkeypatch.setattr("benchmarks.export.ROUNDS", tmp_path)
    assert cli.main(["export"]) == 2
    assert f"error: {path} is no whole round file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv", [[], ["nonsense"], ["stacks"], ["export", "--tier", "x"], ["wheels"]]
)
def test_wrong_usage_is_exit_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """argparse's own errors have the same exit code."""
    with pytest.raises(SystemExit) as caught:
        cli.main(argv)
    assert caught.value.code == 2
    assert "usage: python -m benchmarks" in capsys.readouterr().err


def test_a_release_must_be_exact(capsys: pytest.CaptureFixture[str]) -> None:
    """`stacks add` wants NAME==VERSION."""
    assert cli.main(["stacks", "add", "flashinfer-python>=0.6"]) == 2
    assert "is no NAME==VERSION" in capsys.readouterr().err


def test_an_unknown_base_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """`stacks adhoc --base` names near matches."""
    assert cli.main(["stacks", "adhoc", "x", "--wheel", "y.whl", "--base", "v0.6.01"]) == 2
    assert "did you mean v0.6.1" in capsys.readouterr().err


def test_an_adhoc_tag_is_taken_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second ad-hoc stack of one name is refused before its wheel is looked at."""
    known = (replace(stack("mine"), ad_hoc=True),)
    monkeypatch.setattr("benchmarks.stacks_command.load_stacks", lambda: known)
    assert cli.main(["stacks", "adhoc", "mine", "--wheel", "none.whl"]) == 2
    told = "error: a stack is called mine already: choose another tag\n"
    assert capsys.readouterr().err == told


def test_the_published_stacks_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """`stacks list` has a line a stack."""
    assert cli.main(["stacks", "list"]) == 0
    assert "flashinfer-python==0.6.1" in capsys.readouterr().out


def test_stacks_as_a_table() -> None:
    """Tag, time and pins stand in columns."""
    assert render_stacks((stack("v1"), stack("v0.6.1"))) == (
        "v1      2026-01-01T05:40:25Z  flashinfer-python==1\n"
        "v0.6.1  2026-01-01T05:40:25Z  flashinfer-python==0.6.1\n"
    )


def test_the_ledger_command_makes_the_ledger(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """`ledger --to` says where it is and how many stacks it holds."""
    assert cli.main(["ledger", "--to", str(tmp_path / "ledger")]) == 0
    assert "stacks" in capsys.readouterr().out
    assert (tmp_path / "ledger" / "stack.json").exists()


def answer(script: str) -> tuple[int, str]:
    """Run the command line from a shell; return the exit code it had there and its stderr."""
    shell = ["bash", "-c", f'b() {{ "{sys.executable}" -m benchmarks "$@"; }}; {script}']
    # Unbuffered, argparse itself would swallow what goes wrong with --help.
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    done = subprocess.run(shell, capture_output=True, text=True, check=False, cwd=ROOT, env=kept)
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", ["stacks list", "list cases", "--help"])
@pytest.mark.parametrize(
    ("redirection", "told"),
    [
        (">&-", "error: standard output is closed: send it to a file or to /dev/null\n"),
        (
            ">/dev/full",
            "error: cannot read or write a file or standard output: No space left on device\n",
        ),
    ],
)
def test_output_that_cannot_be_written_is_one_line(
    command: str, redirection: str, told: str
) -> None:
    """A closed or full standard output is exit 2, for short and long output alike."""
    assert answer(f"b {command} {redirection}") == (2, told)


@pytest.mark.parametrize("command", ["stacks list", "list cases", "--help"])
def test_a_closed_pipe_is_quiet(command: str) -> None:
    """Nobody who pipes into `head` wants to read about it."""
    assert answer(f"b {command} | true; exit ${{PIPESTATUS[0]}}") == (2, "")


def test_closed_stderr_keeps_the_exit_code() -> None:
    """What went wrong cannot be told, but 1 would mean a regression."""
    assert answer("b stacks add nothing 2>&-") == (2, "")


def test_a_file_that_cannot_be_used_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only checkout is one line and exit 2, wherever a command meets it."""

    def refuse() -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/checkout/file")

    monkeypatch.setattr("benchmarks.stacks_command.load_stacks", refuse)
    assert cli.main(["stacks", "list"]) == 2
    told = "error: cannot read or write /checkout/file: Permission denied\n"
    assert capsys.readouterr().err == told


def test_a_fault_of_the_program_is_a_traceback_and_exit_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's own exit code 1 would read as a regression."""

    def fail() -> None:
        msg = "unforeseen"
        raise ZeroDivisionError(msg)

    monkeypatch.setattr("benchmarks.stacks_command.load_stacks", fail)
    assert cli.main(["stacks", "list"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert "ZeroDivisionError: unforeseen" in err
    assert err.endswith("error: this is a fault of the program: report it\n")
