"""asv's environment type: its worker, its machine entry and what it reads of asv's arguments."""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from asv import util
from asv.machine import Machine

from benchmarks.asv_arguments import asked_for, check_names
from benchmarks.errors import UserError
from benchmarks.machine import ensure_machine
from benchmarks.stack_env import StackEnvironment
from benchmarks.warm import WarmWorker, WorkerLostError
from tests.benchmarks.synthetic import stack

BENCHMARK = """\
import os, sys, time

def track_pid():
    return os.getpid()

def track_boom():
    print("on the way")
    raise RuntimeError("boom")

def track_exit():
    os._exit(3)

def track_hang():
    time.sleep(60)
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "toys"
    folder.mkdir()
    (folder / "__init__.py").write_text(BENCHMARK)
    return folder


@pytest.fixture
def worker() -> Iterator[WarmWorker]:
    started = WarmWorker(Path(sys.executable), os.environ)
    yield started
    started.close()


def run(worker: WarmWorker, suite: Path, name: str, timeout_s: float = 30) -> tuple[str, int]:
    result = suite.parent / "result.json"
    arguments = [str(suite), name, "{}", "None", str(result)]
    return worker.ask(arguments, str(suite.parent), timeout_s)


def test_one_process_answers_all_requests(worker: WarmWorker, suite: Path) -> None:
    """Requests share a process, so that a round measured for one answers the next."""
    pids = []
    for _ in range(2):
        assert run(worker, suite, "track_pid") == ("", 0)
        pids.append(json.loads((suite.parent / "result.json").read_text()))
    assert pids[0] == pids[1] != os.getpid()


def test_a_failure_is_reported_and_the_worker_lives(worker: WarmWorker, suite: Path) -> None:
    """An exception costs its own request, with all output; the next one is answered."""
    output, code = run(worker, suite, "track_boom")
    assert code == 1
    assert "on the way" in output
    assert "RuntimeError: boom" in output
    assert run(worker, suite, "track_pid") == ("", 0)


def test_a_worker_that_ends_is_lost(worker: WarmWorker, suite: Path) -> None:
    """A worker that dies is no result, and says with which code."""
    with pytest.raises(WorkerLostError, match="ended with code 3") as caught:
        run(worker, suite, "track_exit")
    assert not caught.value.timed_out


def test_a_worker_that_hangs_is_ended(worker: WarmWorker, suite: Path) -> None:
    """No answer in time ends the worker within seconds."""
    started = time.monotonic()
    with pytest.raises(WorkerLostError, match=r"did not answer within 0\.3 s") as caught:
        run(worker, suite, "track_hang", timeout_s=0.3)
    assert caught.value.timed_out
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    ("argv", "bench", "quick"),
    [
        (["run", "v1^!"], [], False),
        (["run", "--quick", "-b", "a", "--bench=b", "v1^!"], ["a", "b"], True),
        (["continuous", "-a", "rounds=5", "-b", "a", "v1", "v2"], ["a"], False),
        (["find", "v1..v2", "decode.track"], ["decode.track"], False),
        (["publish"], [], False),
    ],
)
def test_asv_arguments_select(argv: list[str], bench: list[str], quick: bool) -> None:  # noqa: FBT001
    """The worker measures what asv's own command line selects."""
    found = asked_for(argv)
    assert json.loads(found["ATTN_BENCH"]) == bench
    assert ("ATTN_QUICK" in found) is quick


@pytest.mark.parametrize(
    "argv",
    [
        ["run", "v0.6.1^!"],
        ["run", "v0.6.0..v0.6.1"],
        ["run", "ALL"],
        ["run", "HASHFILE:list"],
        ["run"],
        ["compare", "v0.6.0", "201e64a5"],
        ["continuous", "v0.6.0", "main"],
        ["publish"],
    ],
)
def test_known_names_pass(argv: list[str]) -> None:
    """Tags, ranges, hashes and asv's own words are let through."""
    check_names(argv, (stack("v0.6.0"), stack("v0.6.1")))


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["run", "v0.6.01^!"], r"'v0\.6\.01': did you mean v0\.6\.1"),
        (["run", "v0.6.1..v9"], "no stack is called 'v9'"),
        (["compare", "v0.6.1", "v9"], "no stack is called 'v9'"),
        (["continuous", "v9", "v0.6.1"], "no stack is called 'v9'"),
        (["find", "v9..v0.6.1", "x"], "no stack is called 'v9'"),
        (["run", "TAGS"], "under the wrong names"),
    ],
)
def test_unknown_names_are_one_line(argv: list[str], complaint: str) -> None:
    """A mistyped tag is refused before asv ends in a traceback over it."""
    with pytest.raises(UserError, match=complaint):
        check_names(argv, (stack("v0.6.1"),))


@pytest.fixture
def machine_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Machine, "hardcoded_machine_name", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("ATTN_MACHINE", raising=False)
    return tmp_path / "machines.json"


def test_a_machine_without_gpu_is_called_cpu(machine_file: Path) -> None:
    """asv finds an entry for this machine and never asks for one."""
    assert ensure_machine(machine_file) == "cpu"
    entry = json.loads(machine_file.read_text())["cpu"]
    assert entry["machine"] == "cpu"
    assert entry["gpu"] == ""
    assert Machine.get_unique_machine_name() == "cpu"


def test_a_gpu_names_the_machine(machine_file: Path) -> None:
    """The driver's word for the GPU becomes the name, model and driver stand beside it."""
    tool = machine_file.parent / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'NVIDIA H200, 580.95.05'\n")
    tool.chmod(0o755)
    assert ensure_machine(machine_file) == "h200"
    entry = json.loads(machine_file.read_text())["h200"]
    assert (entry["gpu"], entry["driver"]) == ("NVIDIA H200", "580.95.05")


def test_an_entry_is_never_changed(machine_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user wrote about this machine stays; other machines stay too."""
    known = {"version": 1, "mine": {"machine": "mine", "ram": "lots"}}
    machine_file.write_text(json.dumps(known))
    monkeypatch.setenv("ATTN_MACHINE", "mine")
    assert ensure_machine(machine_file) == "mine"
    assert json.loads(machine_file.read_text()) == known
    monkeypatch.setenv("ATTN_MACHINE", "other")
    ensure_machine(machine_file)
    assert json.loads(machine_file.read_text())["mine"] == known["mine"]


@pytest.mark.parametrize(
    "content",
    [b"", b"xx", b"\xff", b"[]", b"3", b"{}", b"[" * 9999, b'{"version": 1, "cpu": 3}'],
    ids=["empty", "text", "bytes", "list", "number", "none", "deep", "entry"],
)
def test_a_damaged_machine_file_is_one_line(machine_file: Path, content: bytes) -> None:
    """The file and the remedy are named; what the user has there is not overwritten."""
    machine_file.write_bytes(content)
    with pytest.raises(
        UserError, match=r"machines\.json (is damaged|holds no).*: remove it"
    ) as caught:
        ensure_machine(machine_file)
    assert "\n" not in str(caught.value)
    assert machine_file.read_bytes() == content


def test_a_home_that_cannot_be_written_is_one_line(machine_file: Path) -> None:
    """Without a place for its machine file asv would ask for this machine every time."""
    machine_file.touch()
    with pytest.raises(UserError, match=r"cannot use asv's machine file .*: .*; set HOME"):
        ensure_machine(machine_file / "home" / ".asv-machine.json")


def test_asv_s_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    """A read-only checkout is asv's own kind of error, not a traceback."""
    (tmp_path / "file").touch()
    environment = SimpleNamespace(_path=str(tmp_path / "file" / "env"))
    with pytest.raises(util.UserError, match=r"cannot make asv's folder of environments: .*/file"):
        StackEnvironment._setup(environment)
