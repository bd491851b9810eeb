"""Where reports go, and what happens where they cannot."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import regress.output
from regress.cli import main
from regress.errors import UsageError
from regress.output import write_file
from tests.regress.builders import CASE, lost, make_round, measured, rounds_of, write_rounds

ROOT = Path(__file__).parents[2]
QUIET = (100.0, 100.1, 99.9, 100.2, 99.8)
ASCII = ({"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"})


def _regress(
    root: Path, *arguments: str, redirect: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    command = f'exec "$0" -m regress "$@" {redirect}'
    where = ("--rounds", str(root), "--tier", "any")
    return subprocess.run(
        ["sh", "-c", command, sys.executable, *arguments, *where],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
    )


@pytest.fixture
def rounds(tmp_path: Path) -> Path:
    """Rounds of two stacks that differ in nothing; head's are lost with an umlaut in the reason."""
    write_rounds(tmp_path, rounds_of("v1", {CASE: QUIET}))
    write_rounds(tmp_path, [make_round("v2", n, [lost(CASE, reason="zu groß")]) for n in range(5)])
    return tmp_path


def _lines(text: bytes) -> Sequence[bytes]:
    return text.splitlines()


@pytest.mark.parametrize("redirect", [">&-", ">/dev/full"])
def test_an_unwritable_stdout_is_one_line(rounds: Path, redirect: str) -> None:
    """Closed or full stdout ends with 2 and one line, not with the code of a regression."""
    done = _regress(rounds, "check", "v1", "v2", redirect=redirect)
    assert done.returncode == 2
    (line,) = _lines(done.stderr)
    assert b"regress: cannot write the report" in line


def test_a_closed_stdout_does_not_matter_with_output(rounds: Path) -> None:
    """With --output nothing goes to stdout, so the verdict stands without one."""
    target = rounds / "report.txt"
    done = _regress(rounds, "check", "v1", "v2", "--output", str(target), redirect=">&- 2>&-")
    assert done.returncode == 1
    assert "zu groß" in target.read_text(encoding="utf-8")


@pytest.mark.parametrize("env", ASCII)
def test_characters_that_the_terminal_lacks_are_escaped(rounds: Path, env: dict[str, str]) -> None:
    """An ASCII terminal shows escapes; the exit code is the verdict's."""
    done = _regress(rounds, "check", "v1", "v2", env={**env, "PYTHONCOERCECLOCALE": "0"})
    assert (done.returncode, done.stderr) == (1, b"")
    assert rb"zu gro\xdf" in done.stdout


def test_an_error_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report is written whole or not at all."""
    target = tmp_path / "report.txt"
    target.write_text("old")

    def full(_self: Path, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(regress.output.Path, "write_bytes", full)
    with pytest.raises(UsageError, match="No space left"):
        write_file("new", target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_new_report_keeps_the_mode_and_the_link(tmp_path: Path) -> None:
    """The file behind a link is replaced, with the permissions it had."""
    target, link = tmp_path / "report.txt", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_file("new", link)
    assert link.is_symlink()
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("new", 0o640)


def test_a_device_is_never_replaced(tmp_path: Path) -> None:
    """Pipes and devices are written to: a rename would put a file in their place."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_file("text", pipe)
    assert os.read(reader, 9) == b"text"
    os.close(reader)
    assert pipe.is_fifo()


def test_an_internal_error_is_no_regression(
    rounds: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A defect of the suite itself shows its traceback and exits 2, never 1."""

    def broken(*_arguments: object) -> None:
        msg = "a defect"
        raise ZeroDivisionError(msg)

    monkeypatch.setattr("regress.commands.check.check", broken)
    assert main(["check", "v1", "v2", "--rounds", str(rounds)]) == 2
    told = capsys.readouterr().err
    assert "ZeroDivisionError: a defect" in told
    assert told.endswith("regress: internal error, nothing was judged\n")


def test_a_missing_dependency_is_no_regression(tmp_path: Path) -> None:
    """Where a library is not installed, the module ends with 2 and one line."""
    (tmp_path / "msgspec.py").write_text("raise ImportError('no msgspec here')")
    done = _regress(tmp_path, "config", env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 2
    assert _lines(done.stderr) == [
        b"regress: no msgspec here; install this project: pip install -e ."
    ]


def test_file_names_without_utf8_do_not_crash(rounds: Path) -> None:
    """A stray file with undecodable bytes in its name is a warning in text and JSON."""
    write_rounds(rounds, [make_round("v1", 9, [measured(CASE, 100.0)])])
    stray = os.fsencode(rounds / "synthetic" / "v1") + b"/\xff.txt"
    Path(os.fsdecode(stray)).write_bytes(b"")
    for kind in ("text", "json"):
        done = _regress(rounds, "check", "v1", "v2", "--format", kind)
        assert (done.returncode, done.stderr) == (1, b"")
        assert rb"\udcff.txt" in done.stdout


def test_an_error_stays_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Line breaks in a file's name do not break the error's line."""
    assert main(["show", str(tmp_path / "a\nb")]) == 2
    assert r"a\nb" in capsys.readouterr().err
