"""The commands `run` and `list`, with rounds that are made up."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks import cli, run_command
from benchmarks.errors import UserError
from benchmarks.paths import RECORDED, ROOT
from benchmarks.process import Ahead, Limits, Turn
from benchmarks.progress import Progress
from benchmarks.rounds import write_round
from benchmarks.run_command import chosen_cases, render_round
from benchmarks.stacks import Stack, find_stack
from tests.benchmarks.synthetic import measured, stack, synthetic_round
from workloads.backend import BACKENDS
from workloads.catalog import aliases, cases
from workloads.policy import POLICIES
from workloads.record import Case, CaseRecord, Design, Status

Capture = pytest.CaptureFixture[str]
CELL = ("--cells", "b66-skew40.*@fa3-varlen$")


class Lab:
    """Stands for environments and measuring: writes a synthetic round a call."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.measured: list[Turn] = []
        self.following: list[Turn | None] = []
        self.prepared: list[tuple[str, Any, Any]] = []
        self.measured_before = 0

    def ensure_environment(self, stack: Stack, wheels: Any, modules: Any) -> Path:
        self.measured_before = len(self.measured)
        self.prepared.append((stack.tag, wheels, modules))
        return Path(f"/env/{stack.tag}")

    def measure_turn(
        self,
        turn: Turn,
        limits: Limits,
        watch: Callable[[Progress], None],
        ahead: Ahead,
        following: Turn | None,
    ) -> Path:
        del limits, ahead
        plan, chosen = turn.plan, turn.plan.cases
        for step in (
            Progress("import"),
            Progress("build", chosen[0], 0, len(chosen)),
            Progress("build", chosen[-1], len(chosen) - 1, len(chosen)),
            Progress("measure", chosen[0], 0, 6 * len(chosen)),
            Progress("done", file="x"),
        ):
            watch(step)
        self.measured.append(turn)
        self.following.append(following)
        records = tuple(measured(case, 100.0) for case in chosen)
        made = synthetic_round(find_stack(plan.tag), records, number=len(self.measured))
        return write_round(
            msgspec.structs.replace(made, campaign=plan.campaign, design=plan.design),
            self.folder / "rounds",
        )


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    lab = Lab(tmp_path)
    monkeypatch.setattr(run_command, "ensure_environment", lab.ensure_environment)
    monkeypatch.setattr(run_command, "measure_turn", lab.measure_turn)
    monkeypatch.setattr(run_command, "ROUNDS", tmp_path / "rounds")
    return lab


def test_rounds_of_stacks_are_interleaved(lab: Lab, capsys: Capture) -> None:
    """Each stack gets its rounds, block by block, and each round its line."""
    assert cli.main(["run", "v0.6.0", "v0.6.1", "--rounds", "3"]) == 0
    tags = [turn.plan.tag for turn in lab.measured]
    assert all(set(tags[i : i + 2]) == {"v0.6.0", "v0.6.1"} for i in (0, 2, 4))
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        f"round {number}/6 {tag}" for number, tag in enumerate(tags, 1)
    ]
    gate = tuple(e.case for e in cases("gate"))
    assert all(turn.plan.cases == gate for turn in lab.measured)
    assert lab.measured_before == 0
    assert {turn.python for turn in lab.measured} == {Path("/env/v0.6.0"), Path("/env/v0.6.1")}


def test_all_rounds_are_of_one_campaign(lab: Lab) -> None:
    """What one command measures is interleaved, so it is one stratum."""
    cli.main(["run", "v0.6.0", "v0.6.1", "--rounds", "2"])
    assert len({turn.plan.campaign for turn in lab.measured}) == 1
    cli.main(["run", "v0.6.1", "--rounds", "1", "--campaign", "c1"])
    assert lab.measured[-1].plan.campaign == "c1"


def test_each_round_tells_what_was_planned(lab: Lab) -> None:
    """Run, stacks and number of blocks are in every round, and the block that it belongs to."""
    cli.main(["run", "v0.6.1", "v0.6.0", "--rounds", "2", *CELL])
    plans = [turn.plan for turn in lab.measured]
    (run,) = {plan.campaign for plan in plans}
    designs = [Design(run, "rounds", ("v0.6.1", "v0.6.0"), block, 2, 1) for block in (1, 1, 2, 2)]
    assert [plan.design for plan in plans] == designs


def test_the_next_process_is_named_ahead(lab: Lab) -> None:
    """Each round knows the one after it, the last has none; --no-overlap names none at all."""
    cli.main(["run", "v0.6.1", "--rounds", "3", *CELL])
    assert lab.following == [*lab.measured[1:], None]
    cli.main(["run", "v0.6.1", "--rounds", "2", "--no-overlap", *CELL])
    assert lab.following[3:] == [None, None]


def test_options_reach_the_round(lab: Lab, tmp_path: Path) -> None:
    """Tier, machine, speed, memory and places go where they belong."""
    arguments = ["--tier", "nightly", "--machine", "lab", "--quick", "--kv-memory-gib", "1.5"]
    wheels, modules = tmp_path / "wheels", tmp_path / "modules"
    wheels.mkdir()
    modules.mkdir()
    places = ["--wheels", str(wheels), "--modules", str(modules), "--record"]
    assert cli.main(["run", "v0.6.1", "--rounds", "1", *arguments, *places]) == 0
    (plan,) = (turn.plan for turn in lab.measured)
    assert plan.cases == tuple(e.case for e in cases("nightly"))
    assert (plan.tier, plan.machine, plan.quick) == ("nightly", "lab", True)
    assert plan.kv_memory_gib == 1.5
    assert plan.directory == str(RECORDED)
    assert lab.prepared == [("v0.6.1", wheels, modules)]


def test_a_selection_is_no_tier(lab: Lab) -> None:
    """Hand-picked cells are recorded as `custom`, on this machine's shelf."""
    assert cli.main(["run", "v0.6.1", "--rounds", "1", "--cells", "b66-skew40.*@fa3-varlen$"]) == 0
    (plan,) = (turn.plan for turn in lab.measured)
    assert {case.backend for case in plan.cases} == {"fa3-varlen"}
    assert plan.tier == "custom"
    assert plan.directory == str(lab.folder / "rounds")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["v0.6.1", "--cells", "("], "--cells '(' is no regular expression: missing ), unterm"),
        (["v0.6.1", "--cells", "a{99999999999}"], "is no regular expression: the repetition"),
        (["v0.6.1", "--cells", "(" * 9999], "is no regular expression: maximum recursion"),
        (["v0.6.1", "--cells", "nothing"], "no case of tier gate matches 'nothing': see `python"),
        (["v9.9.9"], "no stack is called 'v9.9.9'"),
        (["v0.6.1", "v0.6.01"], "did you mean v0.6.1"),
        (["v0.6.1", "v0.6.1"], "a stack is named twice: v0.6.1 v0.6.1 (rounds are told apart"),
        (["v0.6.1", "--campaign", "c1~2"], "c1~2 is a later stretch of a run: to go on, give the"),
    ],
)
def test_bad_requests_are_one_line(
    lab: Lab, capsys: Capture, arguments: list[str], told: str
) -> None:
    """Exit 2, one line that says what to do, and nothing is installed or measured."""
    assert cli.main(["run", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert not lab.prepared
    assert not lab.measured


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--rounds", "0"], "argument --rounds: '0' is no number from 1 to 10000"),
        (["--rounds", "-3"], "argument --rounds: '-3' is no number from 1 to 10000"),
        (["--rounds", "many"], "argument --rounds: 'many' is no number from 1 to 10000"),
        (["--rounds", "1000000000000"], "is no number from 1 to 10000"),
        (["--tier", "huge"], "invalid choice: 'huge'"),
        (["--kv-memory-gib", "nan"], "'nan' is no positive number of GiB"),
        (["--wheels", "/nope"], "argument --wheels: there is no folder /nope"),
        (["--modules", "/nope"], "argument --modules: there is no folder /nope"),
        (["--plan", "x"], "TAG cannot go with --plan: the plan says it"),
    ],
)
def test_bad_options_are_named(lab: Lab, capsys: Capture, arguments: list[str], told: str) -> None:
    """Exit 2; after the usage one line names the option and the value."""
    with pytest.raises(SystemExit) as caught:
        cli.main(["run", "v0.6.1", *arguments])
    assert caught.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("usage: python -m benchmarks run")
    assert told in err.splitlines()[-1]
    assert not lab.prepared


def test_a_stack_that_cannot_be_measured_ends_the_command(
    lab: Lab, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is one line, and no further round is tried."""

    def refuse(*_: Any) -> Path:
        msg = "v0.6.1 cannot be measured: the stack pins another version"
        raise UserError(msg)

    monkeypatch.setattr(run_command, "measure_turn", refuse)
    assert cli.main(["run", "v0.6.1"]) == 2
    told = "error: v0.6.1 cannot be measured: the stack pins another version\n"
    assert capsys.readouterr().err == told
    assert [tag for tag, *_ in lab.prepared] == ["v0.6.1"]


def test_lost_cells_are_told_with_their_reasons() -> None:
    """A round's line counts what became of its cases and names the lost ones."""
    records = (
        measured(Case("a", "sdpa"), 1.0),
        CaseRecord(Case("b", "sdpa"), Status.SKIPPED, "no GPU"),
        CaseRecord(Case("c", "sdpa"), Status.FAILED, "RuntimeError: no"),
        CaseRecord(Case("d", "sdpa"), Status.QUARANTINED, "hung"),
    )
    assert render_round(synthetic_round(stack("v1"), records), ROOT / "x.json.gz") == (
        "1 measured, 1 skipped, 1 failed, 1 quarantined in 1.0 s, x.json.gz\n"
        "  failed c@sdpa: RuntimeError: no\n"
        "  quarantined d@sdpa: hung"
    )
    assert str(Path("/elsewhere/x")) in render_round(
        synthetic_round(stack("v1")), Path("/elsewhere/x")
    )


def test_progress_is_drawn_on_a_terminal(
    lab: Lab, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells done of all are shown while a round runs; a log gets none of it."""
    cli.main(["run", "v0.6.1", "--rounds", "1", "--cells", "fa3-varlen$"])
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    cli.main(["run", "v0.6.1", "--rounds", "1", "--cells", "fa3-varlen$"])
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    count = len(lab.measured[-1].plan.cases)
    assert "round 1/1 v0.6.1: building" in shown
    assert f"{count}/{count}" in shown


def test_chosen_cases_are_those_of_the_tier() -> None:
    """Without a pattern all of a tier, with one those whose name matches anywhere."""
    assert chosen_cases("gate", None) == tuple(e.case for e in cases("gate"))
    chosen = chosen_cases("sweep", "^decode-.*@sdpa$")
    assert chosen
    assert all(case.workload.startswith("decode-") and case.backend == "sdpa" for case in chosen)


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("cases", [str(e.case) for e in cases()] + [str(case) for case, _ in aliases()]),
        ("backends", [b.name for b in BACKENDS]),
        ("policies", [p.name for p in POLICIES]),
    ],
)
def test_lists_are_complete(capsys: Capture, what: str, names: list[str]) -> None:
    """`list` has a line for each of them."""
    assert cli.main(["list", what]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(names)
    assert all(name in line for name, line in zip(names, lines, strict=True))
