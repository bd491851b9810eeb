"""The command `backfill`, rehearsed from end to end by a script."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks import backfill_command, cli
from benchmarks.campaign import measure_turn
from benchmarks.errors import UserError
from benchmarks.rounds import load_rounds
from workloads.record import Round
from workloads.unrunnable import Unrunnable

TAGS = ("v0.5.3", "v0.6.0", "v0.6.4")
REFERENCE = "v0.6.1"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where rounds go, in a rehearsal in which every case takes 100 us."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"*": {"us": 100}}))
    monkeypatch.setenv("ATTN_SCRIPT", str(script))
    monkeypatch.setattr(backfill_command, "ROUNDS", tmp_path / "rounds")
    monkeypatch.setattr(backfill_command, "RECORDED", tmp_path / "recorded")
    return tmp_path / "rounds"


def run(*arguments: str) -> int:
    return cli.main(["backfill", *TAGS, *arguments])


def counts(folder: Path) -> Counter[str]:
    return Counter(round_.stack.tag for round_ in load_rounds(folder))


def test_what_is_missing_is_measured(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each stack gets its rounds, beside the reference, in one campaign."""
    assert run("--rounds", "2") == 0
    rounds = load_rounds(folder)
    found = counts(folder)
    assert {tag: found[tag] for tag in TAGS} == dict.fromkeys(TAGS, 2)
    assert found[REFERENCE] == 2
    assert len({round_.campaign for round_ in rounds}) == 1
    assert capsys.readouterr().out.endswith("3 of 3 stacks have 2 rounds\n")
    for group in _groups(rounds).values():
        planned = group[0].design
        assert planned is not None
        assert sorted(planned.stacks) == sorted(round_.stack.tag for round_ in group)
        assert REFERENCE in planned.stacks


def _groups(rounds: tuple[Round, ...]) -> dict[str, list[Round]]:
    groups: dict[str, list[Round]] = {}
    for round_ in rounds:
        assert round_.design is not None
        groups.setdefault(round_.design.stage, []).append(round_)
    return groups


def test_rounds_that_exist_count(folder: Path) -> None:
    """A second backfill measures what the first one left, in a campaign of its own."""
    run("--rounds", "1")
    before = counts(folder)
    run("--rounds", "1")
    assert counts(folder) == before
    run("--rounds", "2")
    assert all(counts(folder)[tag] == 2 for tag in TAGS)
    assert len({round_.campaign for round_ in load_rounds(folder)}) == 2


def test_recorded_rounds_count_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What git keeps is done, wherever new rounds go."""
    run("--rounds", "1")
    monkeypatch.setattr(backfill_command, "RECORDED", folder)
    monkeypatch.setattr(backfill_command, "ROUNDS", folder.parent / "new")
    run("--rounds", "1")
    assert load_rounds(folder.parent / "new") == ()


def test_a_budget_ends_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No round is begun that would end after the budget; the rest is said to be missing."""
    clock = iter(range(0, 100_000, 10))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    assert run("--rounds", "5", "--budget-s", "400") == 0
    done = sum(counts(folder).values())
    assert 0 < done < 5 * len(TAGS)
    assert "0 of 3 stacks have 5 rounds" in capsys.readouterr().out


def test_a_budget_may_be_of_hours(folder: Path) -> None:
    """A long night is no wrong option."""
    assert run("--rounds", "1", "--budget-s", "36000") == 0
    assert counts(folder)["v0.6.4"] == 1


def test_since_leaves_older_stacks_out(folder: Path) -> None:
    """Only stacks from that release on are measured, and the reference."""
    assert cli.main(["backfill", "--since", "v0.7.2", "--rounds", "1"]) == 0
    assert set(counts(folder)) == {"v0.7.2", "v0.7.2.post1", "v0.7.4", REFERENCE}


def test_a_stack_that_cannot_be_measured_is_noted(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others go on; the reason stands beside the rounds until one is measured."""
    whole = measure_turn

    def broken(turn: Any, *arguments: Any) -> Path:
        if turn.plan.tag == "v0.6.0":
            msg = "v0.6.0 cannot be measured: it does not import"
            raise UserError(msg)
        return whole(turn, *arguments)

    monkeypatch.setattr(backfill_command, "measure_turn", broken)
    assert run("--rounds", "2") == 0
    note = folder / "rehearsal" / "v0.6.0" / "unrunnable.json"
    told = json.loads(note.read_text())
    assert set(told) == set(Unrunnable.__struct_fields__)
    assert told["reason"] == "v0.6.0 cannot be measured: it does not import"
    assert counts(folder)["v0.6.4"] == 2
    assert counts(folder)["v0.6.0"] == 0
    assert capsys.readouterr().out.count("v0.6.0 is left out") == 1
    monkeypatch.setattr(backfill_command, "measure_turn", whole)
    run("--rounds", "2")
    assert counts(folder)["v0.6.0"] == 2
    assert not note.exists()


def test_a_stack_that_cannot_be_installed_is_noted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel that is missing costs its stack only."""

    def install(stack: Any, **_: Any) -> Path:
        if stack.tag == "v0.6.0":
            msg = "cannot install v0.6.0: no wheel"
            raise UserError(msg)
        return Path("/env", stack.tag)

    monkeypatch.setattr(backfill_command, "ensure_environment", install)
    monkeypatch.setattr(backfill_command, "rehearsing", lambda: False)
    monkeypatch.setattr(backfill_command, "gpu_of_host", lambda: ("NVIDIA H200", "1"))
    monkeypatch.setattr(backfill_command, "_measure", lambda _: None)
    assert run() == 0
    told = json.loads((folder / "h200" / "v0.6.0" / "unrunnable.json").read_text())
    assert told["reason"] == "cannot install v0.6.0: no wheel"
    assert told["machine"] == "h200"


def test_nothing_measured_is_no_success(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """If every stack was left out the command fails, after it said why."""

    def broken(*_: Any) -> Path:
        msg = "no GPU"
        raise UserError(msg)

    monkeypatch.setattr(backfill_command, "measure_turn", broken)
    assert run("--rounds", "1") == 2
    told = capsys.readouterr()
    assert "is left out: no GPU" in told.out
    assert told.err == "error: no stack could be measured: the lines above say why\n"
    assert not counts(folder)


def test_a_round_without_any_time_is_none(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each stack is tried once, and then left out with what most cases said."""
    (tmp_path / "script.json").write_text(json.dumps({"*": {"us": 100, "do": "raise"}}))
    assert run("--rounds", "2") == 2
    assert set(counts(folder).values()) <= {1, 2}
    reason = json.loads((folder / "rehearsal" / "v0.6.4" / "unrunnable.json").read_text())["reason"]
    assert "no case could be measured, most often: " in reason
    assert "scripted failure" in reason
    assert "no stack could be measured" in capsys.readouterr().err


def test_a_rehearsal_is_not_recorded(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a script decided never goes where git keeps results."""
    assert run("--record") == 2
    assert "is not recorded" in capsys.readouterr().err
    assert not folder.exists()


@pytest.mark.parametrize(
    "option",
    [
        ("--since", "v9"),
        ("--since", "v0.7.2"),
        ("--reference", "v9"),
        ("--budget-s", "0"),
        ("--budget-s", "9" * 5000),
    ],
)
def test_a_wrong_option_is_one_line(
    folder: Path, option: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A stack that does not exist, none at all, or no budget is said before measuring."""
    try:
        code = run(*option)
    except SystemExit as ended:
        code = ended.code  # type: ignore[assignment]
    assert code == 2
    assert "error: " in capsys.readouterr().err
    assert not folder.exists()
