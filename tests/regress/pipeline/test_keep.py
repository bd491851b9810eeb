"""Keeping made-up round files beside others, for good."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from regress.cli import main
from regress.pipeline.keep import Kept, keep
from regress.store.load import load_round
from tests.regress.builders import CASE, MACHINE, rounds_of, write_rounds
from workloads.record import StackRef
from workloads.unrunnable import UNRUNNABLE_FILE, Unrunnable

ROUNDS = rounds_of("v1", {CASE: (1.0, 1.1, 1.2)})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write_rounds(tmp_path / "source", ROUNDS)
    return tmp_path / "source"


def test_new_rounds_are_copied_once(source: Path, tmp_path: Path) -> None:
    """What is there already, the same, is left as it is; the rest comes beside it."""
    target = tmp_path / "target"
    write_rounds(target, ROUNDS[:1])
    assert keep(source, target) == Kept({"v1": 2}, 1, ())
    assert keep(source, target) == Kept({}, 3, ())
    kept = sorted((target / MACHINE.name / "v1").iterdir())
    assert [load_round(path) for path in kept] == list(ROUNDS)


def test_a_kept_round_is_never_changed(source: Path, tmp_path: Path) -> None:
    """A file of the same name with other content is refused, and the others are kept."""
    (path,) = write_rounds(tmp_path / "target", ROUNDS[:1])
    before = path.read_bytes()
    (altered,) = write_rounds(source, [msgspec.structs.replace(ROUNDS[0], tier="gate")])
    kept = keep(source, tmp_path / "target")
    assert (kept.new, kept.present) == ({"v1": 2}, 0)
    assert kept.refused == (
        f"{altered} differs from the round that is kept under its name: {path}",
    )
    assert path.read_bytes() == before


def test_damaged_and_foreign_files_are_refused(source: Path, tmp_path: Path) -> None:
    """Each is named with its reason; nothing of it is written."""
    folder = source / MACHINE.name
    (folder / "v1" / "broken.json.gz").write_bytes(b"no gzip")
    (folder / "v2").mkdir()
    stray = folder / "v2" / "stray.json.gz"
    stray.write_bytes((folder / "v1" / f"{ROUNDS[0].id}.json.gz").read_bytes())
    (folder / "v1" / "notes.txt").write_text("no round")
    kept = keep(source, tmp_path / "target")
    assert kept.new == {"v1": 3}
    assert ["broken" in kept.refused[0], "holds a round of v1 on" in kept.refused[1]] == [True] * 2
    assert len(list((tmp_path / "target").rglob("*"))) == 5


def test_a_round_of_the_future_is_refused(source: Path, tmp_path: Path) -> None:
    """A host whose clock is wrong must not hide that rounds are missing later."""
    early = datetime.now(UTC) + timedelta(days=2)
    (path,) = write_rounds(
        source, [msgspec.structs.replace(ROUNDS[0], id="9", started_at=early.isoformat())]
    )
    kept = keep(source, tmp_path / "target")
    assert (kept.new, len(kept.refused)) == ({"v1": 3}, 1)
    assert kept.refused[0].startswith(f"{path} began at ")


def test_what_is_kept_is_said_harmlessly(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A tag is a host's word: it commands no runner and forges no line."""
    tag = "v1 ##[add-mask]x\n::error::y"
    write_rounds(tmp_path / "source", rounds_of(tag, {CASE: (1.0,)}))
    assert main(["keep", str(tmp_path / "source"), "--into", str(tmp_path / "target")]) == 0
    shown = capfd.readouterr().out
    assert (shown.count("\n"), "##[" in shown) == (1, False)


def test_a_stack_keeps_its_wheels(source: Path, tmp_path: Path) -> None:
    """Rounds of other wheels under the same tag would spoil all that are kept."""
    other = StackRef("v1", "other digest", {"flashinfer-python": "1"})
    write_rounds(tmp_path / "target", [msgspec.structs.replace(ROUNDS[0], id="0", stack=other)])
    kept = keep(source, tmp_path / "target")
    assert (kept.new, len(kept.refused)) == ({}, 3)
    assert kept.refused[0].endswith("is of another v1 than the rounds kept before: other wheels")


def note(root: Path, tag: str, reason: str = "no wheel", about: str = "") -> Path:
    path = root / MACHINE.name / tag / UNRUNNABLE_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    told = Unrunnable(about or tag, "digest", MACHINE.name, reason, "2026-01-01T00:00:00+00:00")
    path.write_bytes(msgspec.json.encode(told))
    return path


def test_the_reason_for_no_rounds_is_kept_until_there_are_some(tmp_path: Path) -> None:
    """The last night's reason counts; a stack that could be measured has none."""
    source, target = tmp_path / "source", tmp_path / "target"
    kept = note(target, "v1", "old reason")
    path = note(source, "v1", "new reason")
    assert keep(source, target).refused == ()
    assert kept.read_bytes() == path.read_bytes()
    path.unlink()
    write_rounds(source, ROUNDS)
    assert keep(source, target).new == {"v1": 3}
    assert not kept.exists()
    note(source, "v1")
    keep(source, target)
    assert not kept.exists()


def test_a_reason_of_another_stack_is_refused(tmp_path: Path) -> None:
    """A note that lies in the wrong folder, or is none, says nothing."""
    note(tmp_path / "source", "v1", about="v2")
    note(tmp_path / "source", "v3").write_text("[]")
    kept = keep(tmp_path / "source", tmp_path / "target")
    assert kept.refused[0].endswith("is about v2 on synthetic")
    assert "is no note of a stack" in kept.refused[1]
    assert not (tmp_path / "target").exists()


def test_the_command_says_what_was_kept(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line with the number of each stack; a second time there is nothing new."""
    words = ["keep", str(source), "--into", str(tmp_path / "target"), "--machine", MACHINE.name]
    assert main(words) == 0
    assert capsys.readouterr().out == "3 new rounds: 3 of v1\n"
    assert main(words) == 0
    assert capsys.readouterr().out == "0 new rounds, 3 were kept before\n"


def test_what_is_refused_fails_the_command(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A machine gives its own rounds only."""
    words = ["keep", str(source), "--into", str(tmp_path / "target"), "--machine", "h100"]
    assert main(words) == 2
    assert "rounds of another machine than h100" in capsys.readouterr().err
    assert not (tmp_path / "target").exists()


def test_a_missing_folder_is_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No folder is told from an empty one."""
    words = ["keep", str(tmp_path / "none"), "--into", str(tmp_path / "target")]
    assert main(words) == 2
    assert "none is no folder" in capsys.readouterr().err
