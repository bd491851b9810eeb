"""Whatever is damaged is named and left out; the rest stands."""

import gzip
import shutil
from pathlib import Path

import msgspec

from regress.store.intact import Intact, load_intact
from regress.store.tree import scan
from tests.regress.builders import CASE, MACHINE, make_round, measured, write_rounds
from workloads.record import StackRef


def _write(root: Path, tag: str = "v0.6.0", **fields: object) -> list[Path]:
    rounds = [make_round(tag, n, [measured(CASE, 100.0 + n)], **fields) for n in range(4)]
    return write_rounds(root, rounds)


def _load(root: Path) -> Intact:
    return load_intact(scan((root,)), MACHINE.name)


def test_truncated_garbage_and_empty(tmp_path: Path) -> None:
    """Each damaged file is named with what is wrong."""
    paths = _write(tmp_path)
    paths[0].write_bytes(paths[0].read_bytes()[:60])
    paths[1].write_bytes(b"garbage")
    paths[2].write_bytes(gzip.compress(b'{"schema": 99}'))
    intact = _load(tmp_path)
    assert [Path(file.path) for file in intact.damaged] == paths[:3]
    problems = [file.problem for file in intact.damaged]
    assert "truncated" in problems[0]
    assert "no intact gzip" in problems[1]
    assert "schema 99" in problems[2]
    assert [Path(sheet.head.path) for sheet in intact.sheets] == paths[3:]


def test_a_file_that_unpacks_to_too_much(tmp_path: Path) -> None:
    """It is named before memory is full of it, however it goes on."""
    path = _write(tmp_path)[0]
    path.write_bytes(gzip.compress(b" " * (65 * 1024 * 1024))[:-8])
    (damaged,) = _load(tmp_path).damaged
    assert "unpacks to more than" in damaged.problem


def test_in_the_wrong_folder(tmp_path: Path) -> None:
    """A round of another stack is left out."""
    path = _write(tmp_path)[0]
    moved = path.parent.with_name("v0.6.1") / path.name
    moved.parent.mkdir()
    path.rename(moved)
    (told,) = _load(tmp_path).damaged
    assert told.path == str(moved)


def test_copies_count_once(tmp_path: Path) -> None:
    """The same round in two files is one round."""
    path = _write(tmp_path)[0]
    shutil.copy(path, path.with_name("copy.json.gz"))
    intact = _load(tmp_path)
    assert len(intact.sheets) == 4
    assert any("counted once" in line for line in intact.warnings)


def test_one_id_two_rounds(tmp_path: Path) -> None:
    """Of files that contradict each other none is used."""
    path = _write(tmp_path)[0]
    data = gzip.decompress(path.read_bytes()).replace(b"100.0", b"101.0")
    path.with_name("other.json.gz").write_bytes(gzip.compress(data))
    intact = _load(tmp_path)
    assert len(intact.damaged) == 2
    assert len(intact.sheets) == 3


def test_other_libraries(tmp_path: Path) -> None:
    """Rounds of a stack that were measured with other libraries than most are left out."""
    _write(tmp_path)
    odd = make_round("v0.6.0", 9, [measured(CASE, 1.0)])
    odd = msgspec.structs.replace(odd, stack=StackRef("v0.6.0", "other", {"x": "1"}))
    (path,) = write_rounds(tmp_path, [odd])
    intact = _load(tmp_path)
    assert [file.path for file in intact.damaged] == [str(path)]
    assert len(intact.sheets) == 4


def test_quick_rounds_and_half_written_files(tmp_path: Path) -> None:
    """They are no results, and no damage."""
    path = _write(tmp_path, warnings=("quick",))[0]
    path.with_name(".tmp").write_bytes(b"")
    intact = _load(tmp_path)
    assert (intact.sheets, intact.damaged) == ((), ())
    assert len(intact.warnings) == 2
