"""A measuring process never outlives the one that watches it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.paths import ROOT

PARENT = """
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.campaign import Options, measure_round
from benchmarks.stacks import Stack
from workloads.record import Case

stack = Stack("test", datetime.now(UTC), {}, {}, ad_hoc=True)
case = Case("decode-h32x4-d128-bf16-p16-b66-uniform-t262144", "scripted")
options = Options("custom", "c1", Path(sys.argv[1]))
measure_round(stack, [case], options, Path(sys.executable), lambda s: print(s.stage, flush=True))
"""


def _children(pid: int) -> list[int]:
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_its_parent(tmp_path: Path, number: signal.Signals) -> None:
    """A scheduler that ends the campaign frees the GPU too, even in the middle of a hang."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"*": {"us": 1.0, "do": "hang"}}))
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "rounds")],
        cwd=ROOT,
        env=os.environ | {"ATTN_SCRIPT": str(script)},
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        while parent.stdout.readline().strip() != "build":
            assert parent.poll() is None
        (child,) = _children(parent.pid)
        parent.send_signal(number)
    deadline = time.monotonic() + 10
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _runs(child)
