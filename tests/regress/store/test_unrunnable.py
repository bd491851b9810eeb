"""Notes of stacks that cannot be measured."""

import os
from pathlib import Path

import msgspec

from regress.store.tree import scan
from regress.store.unrunnable import unmeasured
from tests.regress.builders import make_round, write_rounds
from workloads.unrunnable import UNRUNNABLE_FILE, Unrunnable

NOTE = Unrunnable("v9", "0" * 64, "synthetic", "no wheel for this Python", "2026-01-01T00:00:00Z")


def _put(root: Path, tag: str, data: bytes) -> None:
    folder = root / "synthetic" / tag
    folder.mkdir(parents=True, exist_ok=True)
    (folder / UNRUNNABLE_FILE).write_bytes(data)


def test_the_reason_is_told(tmp_path: Path) -> None:
    """Of stacks without rounds only: one that was measured since needs no excuse."""
    write_rounds(tmp_path, [make_round("v1", 1, [])])
    _put(tmp_path, "v9", msgspec.json.encode(NOTE))
    _put(tmp_path, "v1", msgspec.json.encode(msgspec.structs.replace(NOTE, tag="v1")))
    told = [*unmeasured(scan([tmp_path]), "synthetic")]
    assert told == ["v9 has no rounds, as it could not be measured: no wheel for this Python"]


def test_a_damaged_note_is_named(tmp_path: Path) -> None:
    """It costs nothing else."""
    _put(tmp_path, "v8", b"{")
    _put(tmp_path, "v9", msgspec.json.encode(NOTE))
    damaged, whole = unmeasured(scan([tmp_path]), "synthetic")
    assert "unrunnable.json is no note of a stack that cannot be measured" in damaged
    assert whole.startswith("v9 has no rounds")


def test_a_note_is_no_stray_file(tmp_path: Path) -> None:
    """Nobody is told that it is a half-written round."""
    _put(tmp_path, "v9", msgspec.json.encode(NOTE))
    assert scan([tmp_path]).ignored == ()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """It is named like any other damaged note."""
    folder = tmp_path / "synthetic" / "v9"
    folder.mkdir(parents=True)
    os.mkfifo(folder / UNRUNNABLE_FILE)
    (told,) = unmeasured(scan([tmp_path]), "synthetic")
    assert "is no regular file" in told
