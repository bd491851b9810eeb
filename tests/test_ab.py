"""`python -m regress ab` from the command line to the verdict, rehearsed with real processes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from regress.store.load import load_round
from workloads.record import Round

ROOT = Path(__file__).parents[1]
AUTO = "decode-h32x4-d128-bf16-p16-b66-skew40-t262144@flashinfer-decode-tc-auto"
CELLS = "b66-.*(tc-auto|tc-fa2|cuda)$"
QUIET: dict[str, Any] = {"us": 100.0, "spread": 0.001}
FACTS = {"cubin": "0123456789ab", "resolved_backend": "fa2", "chunk_tokens": 512, "max_splits": 9}


class Rehearsal:
    """A machine on which every case does what a script says."""

    def __init__(self, folder: Path, head: dict[str, Any]) -> None:
        self.folder = folder
        self.script("v0.6.0", {"*": QUIET, AUTO: QUIET | {"facts": FACTS}})
        self.script("v0.6.1", {"*": QUIET, AUTO: QUIET | {"facts": FACTS} | head})

    def script(self, tag: str, behaviours: dict[str, Any]) -> None:
        (self.folder / f"{tag}.json").write_text(json.dumps(behaviours), encoding="utf-8")

    def start(self, *options: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "regress", "ab", "v0.6.0", "v0.6.1", "--cells", CELLS]
        return subprocess.Popen(
            [*command, "--machine", "rehearsal", "--format", "json", *options],
            cwd=ROOT,
            env=os.environ | {"ATTN_SCRIPT": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    @property
    def rounds(self) -> Path:
        return self.folder / "rounds"

    def run(self, *options: str) -> tuple[int, dict[str, Any]]:
        process = self.start("--into", str(self.rounds), *options)
        out, err = process.communicate(timeout=120)
        assert out, err
        return process.returncode, json.loads(out)

    def written(self) -> list[Round]:
        return [load_round(path) for path in sorted(self.rounds.rglob("*.json.gz"))]


def _verdict(report: dict[str, Any]) -> str:
    (found,) = (
        cell["verdict"]
        for cell in report["cells"]
        if f"{cell['case']['workload']}@{cell['case']['backend']}" == AUTO
    )
    return str(found)


def test_nothing_changed_passes(tmp_path: Path) -> None:
    """Two stacks that do the same pass after one stage."""
    code, report = Rehearsal(tmp_path, {}).run()
    assert (code, report["verdict"]) == (0, "SAME")
    assert [stage["name"] for stage in report["run"]["stages"]] == ["screen-1"]


@pytest.mark.parametrize(
    ("head", "verdicts", "code"),
    [
        ({"us": 50.0, "error": 0.9}, {"BROKEN"}, 1),
        ({"slow_passes": 0.5, "slow_factor": 1.3}, {"VARIANCE", "REGRESSION"}, 1),
        (
            {"us": 130.0, "facts": FACTS | {"chunk_tokens": 4096, "max_splits": 2}},
            {"REGRESSION"},
            1,
        ),
        ({"do": "raise"}, {"GONE"}, 1),
    ],
    ids=["fast and wrong", "slow in half of its passes", "splits less", "fails"],
)
def test_what_got_worse_is_called_by_its_name(
    tmp_path: Path, head: dict[str, Any], verdicts: set[str], code: int
) -> None:
    """A defect of one case is found among the others, with the right verdict and exit code."""
    config = tmp_path / "strict.toml"
    config.write_text("version = 1\n[spread]\nfails = true\n", encoding="utf-8")
    found, report = Rehearsal(tmp_path, head).run("--config", str(config))
    assert _verdict(report) in verdicts
    assert found == code


def test_killed_in_the_middle_it_goes_on(tmp_path: Path) -> None:
    """After kill -9 the same command completes the run, and no round counts twice."""
    host = Rehearsal(tmp_path, {"us": 130.0})
    process = host.start("--into", str(host.rounds))
    deadline = time.monotonic() + 60
    while len(list(host.rounds.rglob("*.json.gz"))) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = len(host.written())
    code, report = host.run()
    assert (code, _verdict(report)) == (1, "REGRESSION")
    assert len(report["run"]["campaigns"]) == 2
    whole = Counter(
        (r.design.stage, r.design.block, r.campaign) for r in host.written() if r.design
    )
    blocks = Counter(stage for (stage, _, _), n in whole.items() if n == 2)
    assert blocks == {stage["name"]: stage["rounds"] for stage in report["run"]["stages"]}
    assert (blocks["screen-1"], blocks["confirm"]) == (4, 10)
    assert len(host.written()) == 2 * blocks.total() + before % 2
    judged = host.start("--run", report["run"]["id"], "--rounds", str(host.rounds))
    out, _ = judged.communicate(timeout=60)
    assert judged.returncode == code
    assert json.loads(out)["findings"] == report["findings"]


def test_a_script_that_is_none_is_one_line(tmp_path: Path) -> None:
    """It is refused before every case of every round fails for it."""
    host = Rehearsal(tmp_path, {})
    (tmp_path / "v0.6.1.json").write_text('{"*": {"us": 100, "speed": 3}}', encoding="utf-8")
    process = host.start("--into", str(host.rounds))
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert "v0.6.1.json is no script" in err
    assert not list(host.rounds.rglob("*.json.gz"))


def test_a_rehearsal_says_so_and_has_a_machine_of_its_own(tmp_path: Path) -> None:
    """Whatever machine is named: its rounds are never mixed with measured ones."""
    host = Rehearsal(tmp_path, {})
    process = host.start("--into", str(host.rounds), "--machine", "h200", "--format", "text")
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "a rehearsal: a script said every time, nothing was measured" in out
    assert {r.machine.name for r in host.written()} == {"rehearsal"}
