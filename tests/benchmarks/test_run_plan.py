"""Measuring what a plan asks for, in real processes, killed in the middle and started again."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from benchmarks.paths import ROOT
from benchmarks.rounds import load_rounds
from tests.benchmarks.fakes import DECODE
from workloads.record import Case, Round
from workloads.stage import StagePlan, write_stage

COMMAND = """
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import cli, run_command
from benchmarks.stacks import Stack

day = datetime(2026, 1, 1, tzinfo=UTC)
run_command.find_stack = lambda tag: Stack(tag, day, {}, {}, ad_hoc=True)
run_command.ensure_environment = lambda *_, **__: Path(sys.executable)
run_command.chosen_cases = lambda *_: (run_command.Case(sys.argv[1], "scripted"),)
run_command.ROUNDS = Path(sys.argv[2])
sys.exit(cli.main(sys.argv[3:]))
"""
"""`python -m benchmarks` with stacks that pin nothing and a scripted case."""
BLOCKS = 4


class Host:
    """A folder of rounds and the command that fills it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.rounds_folder = folder, folder / "rounds"
        for tag, us in (("base", 100.0), ("head", 50.0)):
            (folder / f"{tag}.json").write_text(json.dumps({"*": {"us": us}}))

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-c", COMMAND, DECODE, str(self.rounds_folder), "run", *arguments],
            cwd=ROOT,
            env=os.environ | {"ATTN_SCRIPT": str(self.folder), "TMPDIR": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> tuple[int, str, str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def killed(self, *arguments: str, after: int) -> None:
        """Run and kill -9 when that many rounds have been told."""
        with self.start(*arguments) as process:
            assert process.stdout is not None
            for _ in range(after):
                assert process.stdout.readline()
            process.send_signal(signal.SIGKILL)

    def plan(self, blocks: Sequence[int], campaign: str = "c1", **fields: object) -> str:
        plan = StagePlan(
            run="c1",
            stage="screen-1",
            stacks=("base", "head"),
            blocks=BLOCKS,
            todo=tuple(blocks),
            campaign=campaign,
            tier="custom",
            cases=(Case(DECODE, "scripted"),),
            directory=str(self.rounds_folder),
            machine="lab",
        )
        path = self.folder / "plan.json"
        write_stage(msgspec.structs.replace(plan, **fields), path)
        return str(path)

    def rounds(self) -> tuple[Round, ...]:
        return load_rounds(self.rounds_folder)

    def whole_blocks(self) -> list[int]:
        """Blocks that have a round of each stack in one campaign, as often as they do."""
        placed = [(r.campaign, r.design.block) for r in self.rounds() if r.design]
        return sorted(block for (_, block), number in Counter(placed).items() if number == 2)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_the_blocks_to_do_are_measured(host: Host) -> None:
    """Each of them gets one round of every stack, which tells all that was planned."""
    code, out, err = host.run("--plan", host.plan([2, 4]))
    assert (code, err) == (0, "")
    assert [line.split()[1] for line in out.splitlines()] == ["1/4", "2/4", "3/4", "4/4"]
    rounds = host.rounds()
    assert host.whole_blocks() == [2, 4]
    for r in rounds:
        assert r.design is not None
        assert (r.design.run, r.design.stage, r.design.blocks) == ("c1", "screen-1", BLOCKS)
        assert (r.campaign, r.tier, r.machine.name) == ("c1", "custom", "rehearsal")
        assert r.cases[0].time_us == {"base": 100.0, "head": 50.0}[r.stack.tag]
    assert sum("wait" in r.seconds for r in rounds) == len(rounds) - 1
    assert all(r.seconds["total"] < 1 for r in rounds)


def test_rounds_may_start_one_after_the_other(host: Host) -> None:
    """With --no-overlap no process waits for another."""
    assert host.run("--plan", host.plan([1]), "--no-overlap")[0] == 0
    assert all("wait" not in r.seconds for r in host.rounds())


def test_a_plan_goes_on_after_a_kill(host: Host) -> None:
    """The blocks that are left, asked for in a campaign of their own, complete the stage."""
    host.killed("--plan", host.plan(range(1, BLOCKS + 1)), after=3)
    before = host.rounds()
    done = host.whole_blocks()
    assert 1 <= len(done) < BLOCKS
    left = [block for block in range(1, BLOCKS + 1) if block not in done]
    assert host.run("--plan", host.plan(left, campaign="c1~2"))[0] == 0
    assert host.whole_blocks() == list(range(1, BLOCKS + 1))
    assert {r.id for r in before} <= {r.id for r in host.rounds()}
    assert len(host.rounds()) == len(before) + 2 * len(left)


def test_a_run_goes_on_after_a_kill(host: Host) -> None:
    """The same command again measures what is left; once more, and there is nothing to do."""
    command = ("base", "head", "--rounds", str(BLOCKS), "--campaign", "c1")
    host.killed(*command, after=3)
    before = len(host.rounds())
    assert host.run(*command)[0] == 0
    assert host.whole_blocks() == list(range(1, BLOCKS + 1))
    assert {r.design.stage for r in host.rounds() if r.design} == {"rounds"}
    after = len(host.rounds())
    assert after > before
    assert host.run(*command) == (0, "run c1: every block was measured before\n", "")
    assert len(host.rounds()) == after


def test_a_plan_of_nothing_is_done(host: Host) -> None:
    """No block to do is no error."""
    code, out, err = host.run("--plan", host.plan([]))
    assert (code, out, err) == (0, "run c1: every block was measured before\n", "")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"stacks": ("base", "base")}, "error: a stack is named twice: base base"),
        ({"todo": (1, 1)}, "names a block twice in todo"),
        ({"cases": ()}, "plans no stacks, no cases"),
        ({"machine": "a/b"}, "error: 'a/b' cannot name a machine"),
    ],
)
def test_a_bad_plan_is_one_line(host: Host, fields: dict[str, object], told: str) -> None:
    """Exit 2, and nothing is measured."""
    code, out, err = host.run("--plan", host.plan([1], **fields))
    assert (code, out) == (2, "")
    assert told in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert not host.rounds_folder.exists()


def test_an_interrupted_run_says_how_to_go_on(host: Host) -> None:
    """SIGTERM ends its processes and the command, in one line with the run's id."""
    with host.start("base", "head", "--rounds", "50") as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.terminate()
        _, err = process.communicate(timeout=60)
    (campaign,) = {r.campaign for r in host.rounds()}
    assert process.returncode == 2
    assert err.splitlines()[-1].endswith(f"; the same with --campaign {campaign} goes on")
    assert "Traceback" not in err
