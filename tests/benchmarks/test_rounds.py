"""Round files: written once and whole, read strictly."""

import gzip
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from benchmarks.errors import UserError
from benchmarks.paths import ROOT
from benchmarks.rounds import QUICK, is_quick, load_round, load_rounds, write_round
from tests.benchmarks.synthetic import measured, stack, synthetic_round
from workloads.record import Case

ROUND = synthetic_round(stack("v1"), (measured(Case("slug", "backend"), 12.5),))


def test_a_round_comes_back_as_it_was(tmp_path: Path) -> None:
    """What is written is what is read, under machine, stack, start and id."""
    path = write_round(ROUND, tmp_path)
    assert path == tmp_path / "synthetic" / "v1" / "20260201T000000Z-id0.json.gz"
    assert load_round(path) == ROUND
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_equal_rounds_are_equal_bytes(tmp_path: Path) -> None:
    """No clock or order leaks into a file."""
    first = write_round(ROUND, tmp_path / "a").read_bytes()
    assert write_round(ROUND, tmp_path / "b").read_bytes() == first
    assert gzip.decompress(first).startswith(b"{")


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    """A second round under one name is refused and the first one stays."""
    path = write_round(ROUND, tmp_path)
    before = path.read_bytes()
    with pytest.raises(UserError, match="never overwritten"):
        write_round(msgspec.structs.replace(ROUND, tier="sweep"), tmp_path)
    assert path.read_bytes() == before
    assert len(list(path.parent.iterdir())) == 1


WHOLE = gzip.compress(msgspec.json.encode(ROUND), mtime=0)


def _truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _corrupt(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


def _changed(old: bytes, new: bytes) -> bytes:
    text = msgspec.json.encode(ROUND)
    assert old in text
    return gzip.compress(text.replace(old, new, 1), mtime=0)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "no whole round file|no round file"),
        (b"{}", "no whole round file"),
        (_truncated(WHOLE), "no whole round file"),
        (_corrupt(WHOLE), "no whole round file"),
        (gzip.compress(msgspec.json.encode(ROUND)[:-9], mtime=0), "no round file"),
        (gzip.compress(b"[]", mtime=0), "no round file"),
        (_changed(b'"schema":1', b'"schema":99'), "schema 99, this checkout reads 1"),
        (_changed(b'"tier":', b'"tear":'), "no round file"),
        (_changed(b"12.5", b'"fast"'), "no round file"),
        (_changed(b'"2026-02-01T', b'"yesterday '), "no round file: Invalid isoformat string"),
        (_changed(b'"gate"', b'"\xff"'), "no round file"),
        (_changed(b'"schema":1', b'"schema":1,"x":' + b"[" * 99999), "no round file"),
    ],
    # Ids from the bytes would change with the compression library.
    ids=[
        "empty",
        "plain",
        "truncated",
        "corrupt",
        "cut",
        "list",
        "schema",
        "field",
        "type",
        "time",
        "bytes",
        "deep",
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, content: bytes, complaint: str) -> None:
    """Truncated, corrupt, foreign and mistyped files are refused in one line with the path."""
    path = tmp_path / "bad.json.gz"
    path.write_bytes(content)
    with pytest.raises(UserError, match=complaint) as caught:
        load_round(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    """A path without a file is a user's error."""
    with pytest.raises(UserError, match="no whole round file"):
        load_round(tmp_path / "none.json.gz")


def test_all_rounds_are_read_in_order(tmp_path: Path) -> None:
    """Rounds of all stacks are read, oldest first, a copy counting once."""
    rounds = [synthetic_round(stack(f"v{n}"), number=n) for n in (2, 0, 1)]
    for r in rounds:
        write_round(r, tmp_path / "a")
    write_round(rounds[0], tmp_path / "copy")
    assert [r.id for r in load_rounds(tmp_path)] == ["id0", "id1", "id2"]


def test_one_id_means_one_round(tmp_path: Path) -> None:
    """Two different rounds of one id are an error, not a choice."""
    write_round(ROUND, tmp_path / "a")
    write_round(msgspec.structs.replace(ROUND, tier="sweep"), tmp_path / "b")
    with pytest.raises(UserError, match="different round with the id id0"):
        load_rounds(tmp_path)


def test_a_quick_round_says_so() -> None:
    """A round is quick if it carries the warning."""
    assert is_quick(synthetic_round(stack("v1"), warnings=(QUICK,)))
    assert not is_quick(ROUND)


KILLED = """\
import os, signal, sys
from pathlib import Path
from benchmarks import rounds
from tests.benchmarks.synthetic import stack, synthetic_round

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(os, sys.argv[1], die)
rounds.write_round(synthetic_round(stack("v1")), Path(sys.argv[2]))
"""


@pytest.mark.parametrize("step", ["fchmod", "link"])
def test_a_killed_writer_leaves_no_round(tmp_path: Path, step: str) -> None:
    """Killed before its name is there, a half-written file is no round and spoils no other."""
    command = [sys.executable, "-c", KILLED, step, str(tmp_path)]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert len(left) == 1
    assert not left[0].endswith(".json.gz")
    assert load_rounds(tmp_path) == ()
