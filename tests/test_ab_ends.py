"""How `python -m regress ab` ends early, and what it refuses before it measures."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from regress.cli import main
from tests.test_ab import CELLS, QUIET, ROOT, Rehearsal

HANGS = QUIET | {"do": "hang", "after": 2}


def _children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text(encoding="ascii").split()):
            found += [child, *_children(child)]
    return found


def _started(process: "subprocess.Popen[str]") -> list[int]:
    """Wait for the command that measures and for its round, and return their ids."""
    deadline = time.monotonic() + 30
    while len(found := _children(process.pid)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def _alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _end(process: "subprocess.Popen[str]", number: int) -> str:
    """Send a signal to the command alone; all that it started must end with it."""
    pids = _started(process)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    deadline = time.monotonic() + 10
    while any(map(_alive, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return err


def _hanging(folder: Path) -> Rehearsal:
    host = Rehearsal(folder, {})
    host.script("v0.6.0", {"*": HANGS})
    host.script("v0.6.1", {"*": HANGS})
    return host


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_says_so_in_one_line(tmp_path: Path, number: int) -> None:
    """Ctrl-C and SIGTERM end all processes, then the command: usage, and no traceback."""
    host = _hanging(tmp_path)
    process = host.start("--into", str(host.rounds))
    err = _end(process, number)
    assert process.returncode == 2
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("regress: interrupted")


def test_a_killed_run_measures_no_longer(tmp_path: Path) -> None:
    """Kill -9 of the command alone ends what it started: the GPU is free for the next."""
    host = _hanging(tmp_path)
    process = host.start("--into", str(host.rounds))
    _end(process, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    """The second would disturb the first one's times, and go on with its run."""
    host = _hanging(tmp_path)
    first = host.start("--into", str(host.rounds))
    _started(first)
    second = host.start("--into", str(host.rounds))
    out, err = second.communicate(timeout=30)
    assert (second.returncode, out) == (2, "")
    assert "another `ab` or bisection is measuring" in err
    _end(first, signal.SIGTERM)


def test_the_command_in_a_report_judges_the_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also if further rounds were read beside those of this checkout."""
    host = Rehearsal(tmp_path, {})
    (tmp_path / "more").mkdir()
    monkeypatch.setenv("ATTN_SCRIPT", str(tmp_path))
    monkeypatch.setattr("regress.commands.ab.LOCAL", host.rounds)
    words = ["ab", "v0.6.0", "v0.6.1", "--cells", CELLS, "--machine", "rehearsal"]
    assert main([*words, "--format", "json", "--rounds", str(tmp_path / "more")]) == 0
    report = json.loads(capfd.readouterr().out)
    assert main(shlex.split(report["command"])[3:]) == 0
    assert json.loads(capfd.readouterr().out)["findings"] == report["findings"]


def test_judging_other_cells_than_were_measured_is_no_pass(tmp_path: Path) -> None:
    """A run is judged as a whole: asked for other cells, it is no answer."""
    host = Rehearsal(tmp_path, {})
    host.run()
    command = [sys.executable, "-m", "regress", "ab", "v0.6.0", "v0.6.1", "--judge"]
    for asked, code in (("--cells=nothing", 2), ("--cells=b32-", 4), ("--tier=gate", 4)):
        options = ["--rounds", str(host.rounds), asked]
        done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, check=False)
        assert done.returncode == code, done.stderr
        assert not done.stdout


@pytest.mark.parametrize("options", [("--into", ""), ("--run", ""), ("--wheels", "")])
def test_an_empty_variable_of_a_script_measures_nothing(
    tmp_path: Path, options: tuple[str, str]
) -> None:
    """An empty name is neither the current folder nor the latest run."""
    process = Rehearsal(tmp_path, {}).start(*options)
    out, err = process.communicate(timeout=30)
    assert process.returncode in {2, 4}
    assert (out, "screen-1" in err) == ("", False)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """A file in the place of the folder is usage, before anything is measured."""
    host = Rehearsal(tmp_path, {})
    host.rounds.write_text("", encoding="ascii")
    process = host.start("--into", str(host.rounds))
    _, err = process.communicate(timeout=30)
    assert process.returncode == 2
    assert err.count("\n") == 1
    assert os.fspath(host.rounds) in err
