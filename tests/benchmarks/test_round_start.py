"""How a round begins: what it is a part of, and held until it is let go."""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.plan import write_plan
from benchmarks.round import main, run_round
from benchmarks.rounds import load_rounds
from tests.benchmarks.fakes import DECODE
from tests.benchmarks.scripting import Listener, plan_of, scripted
from workloads.record import Design

pytestmark = pytest.mark.usefixtures("script")


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every scripted case take 100 µs."""
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"*": {"us": 100.0}}))
    monkeypatch.setenv("ATTN_SCRIPT", str(path))


def test_a_round_begins_when_it_is_let_go() -> None:
    """All is imported before; waiting is recorded, and is no part of what the round took."""
    listener = Listener()
    let_go: list[datetime] = []

    def wait() -> None:
        assert [step.stage for step in listener.steps] == ["import"]
        time.sleep(0.5)
        let_go.append(datetime.now(UTC).replace(microsecond=0))

    found = run_round(plan_of(*scripted(DECODE)), listener, wait)
    assert datetime.fromisoformat(found.started_at) >= let_go[0]
    assert 0.5 <= found.seconds["wait"] < 5
    parts = sum(found.seconds[part] for part in ("import", "build", "measure", "view"))
    assert parts - 0.01 <= found.seconds["total"] < parts + 0.4


def test_a_round_tells_what_it_is_a_part_of() -> None:
    """The design of the plan goes into the record; a single round has none."""
    design = Design("c1", "rounds", ("v1", "v2"), 2, 5)
    assert run_round(plan_of(*scripted(DECODE), design=design), Listener()).design == design
    assert run_round(plan_of(*scripted(DECODE)), Listener()).design is None


@pytest.mark.parametrize("word", [b"\n", b""])
def test_a_held_process_measures_or_ends(tmp_path: Path, word: bytes) -> None:
    """At a word it measures; if the pipe is closed instead it ends well, without a round."""
    plan = plan_of(*scripted(DECODE), directory=str(tmp_path / "rounds"), quick=True)
    write_plan(plan, tmp_path / "plan.json")
    read_fd, write_fd = os.pipe()
    os.write(write_fd, word)
    os.close(write_fd)
    command = [str(tmp_path / "plan.json"), "--go-fd", str(read_fd)]
    if word:
        assert main(command) == 0
        assert "wait" in load_rounds(tmp_path / "rounds")[0].seconds
        return
    with pytest.raises(SystemExit) as caught:
        main(command)
    os.close(read_fd)
    assert caught.value.code == 0
    assert not (tmp_path / "rounds").exists()
