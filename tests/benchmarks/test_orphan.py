"""Measuring processes never outlive the one that watches them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.paths import ROOT
from tests.benchmarks.interpreter import runs

PARENT = """
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.campaign import Options, measure_turn, round_plan
from benchmarks.process import Ahead, Turn
from benchmarks.stacks import Stack
from workloads.record import Case

stack = Stack("test", datetime.now(UTC), {}, {}, ad_hoc=True)
case = Case("decode-h32x4-d128-bf16-p16-b66-uniform-t262144", "scripted")
options = Options("custom", "c1", Path(sys.argv[1]))
turn = Turn(round_plan(stack, [case], options), Path(sys.executable))

with Ahead() as ahead:
    measure_turn(turn, options.limits, lambda s: print(s.stage, flush=True), ahead, turn)
"""


def _children(pid: int) -> list[int]:
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(("after", "stage", "processes"), [(0, "build", 1), (2, "measure", 2)])
def test_they_end_with_their_parent(
    tmp_path: Path, number: signal.Signals, after: int, stage: str, processes: int
) -> None:
    """A scheduler that ends the campaign frees the GPU too, even in the middle of a hang.

    While one measures, the next one waits.
    """
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"*": {"us": 1.0, "do": "hang", "after": after}}))
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "rounds")],
        cwd=ROOT,
        env=os.environ | {"ATTN_SCRIPT": str(script), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        while parent.stdout.readline().strip() != stage:
            assert parent.poll() is None
        deadline = time.monotonic() + 10
        while len(children := _children(parent.pid)) < processes:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert len(children) == processes
        parent.send_signal(number)
    deadline = time.monotonic() + 10
    while any(map(runs, children)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(runs, children))
