"""The rounds of a machine, checked against each other."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import benchmarks.rounds
from regress.errors import NoDataError, UsageError
from regress.store.rounds import QUICK, Loaded, load_machine
from regress.store.tree import scan
from tests.regress.builders import CASE, MACHINE, make_round, measured, write_rounds
from workloads.record import Round, StackRef


def _round(number: int, tag: str = "v1", **fields: Any) -> Round:
    return make_round(tag, number, [measured(CASE, 1.0)], **fields)


def _load(root: Path) -> Loaded:
    return load_machine(scan([root]), MACHINE.name)


def test_rounds_come_in_order_of_start(tmp_path: Path) -> None:
    """Rounds are sorted by their start, not by file name."""
    write_rounds(tmp_path, [_round(2, id="a"), _round(1, id="b")])
    assert [r.id for r in _load(tmp_path).rounds["v1"]] == ["b", "a"]


def test_a_copy_counts_once(tmp_path: Path) -> None:
    """A second file with the same round adds nothing and is told."""
    (path,) = write_rounds(tmp_path, [_round(1)])
    shutil.copy(path, path.with_name("copy.json.gz"))
    loaded = _load(tmp_path)
    assert len(loaded.rounds["v1"]) == 1
    assert "counted once" in loaded.warnings[0]


def test_one_id_for_two_rounds_is_an_error(tmp_path: Path) -> None:
    """Two different rounds with one id are refused, across stacks too."""
    write_rounds(tmp_path, [_round(1, id="x"), _round(1, tag="v2", id="x")])
    with pytest.raises(UsageError, match="differ but have one round id x"):
        _load(tmp_path)


@pytest.mark.parametrize("place", ["other/v1", "synthetic/v2"])
def test_misplaced_file_is_an_error(tmp_path: Path, place: str) -> None:
    """A file whose folder names another machine or stack is refused."""
    (path,) = write_rounds(tmp_path, [_round(1)])
    target = tmp_path / place
    target.mkdir(parents=True)
    path.rename(target / path.name)
    with pytest.raises(UsageError, match="move it to synthetic/v1/"):
        load_machine(scan([tmp_path]), target.parent.name)


def test_two_stacks_under_one_tag_are_refused(tmp_path: Path) -> None:
    """Rounds of one tag with different digests are refused."""
    stack = StackRef("v1", "other-digest", {"flashinfer-python": "1"})
    write_rounds(tmp_path, [_round(1), _round(2, stack=stack)])
    with pytest.raises(UsageError, match="come from different stacks"):
        _load(tmp_path)


def test_other_imported_version_is_refused(tmp_path: Path) -> None:
    """Rounds of one stack that imported different versions are refused, with both versions."""
    stack = StackRef("v1", "digest-v1", {"flashinfer-python": "9"})
    write_rounds(tmp_path, [_round(1), _round(2, stack=stack)])
    with pytest.raises(UsageError, match=r"versions of flashinfer-python \(1, 9\)"):
        _load(tmp_path)


def test_corrupt_file_among_good_ones_is_an_error(tmp_path: Path) -> None:
    """A damaged file is never silently dropped, not even of a third stack."""
    *_, last = write_rounds(tmp_path, [_round(1), _round(2), _round(1, tag="v3")])
    last.write_bytes(b"junk")
    with pytest.raises(UsageError, match="no intact gzip"):
        _load(tmp_path)


def test_leftovers_are_told(tmp_path: Path) -> None:
    """A half-written file is ignored with a warning."""
    (path,) = write_rounds(tmp_path, [_round(1)])
    path.with_name(".x.tmp").write_bytes(b"half")
    assert "half-written" in _load(tmp_path).warnings[0]


def test_quick_rounds_are_left_aside(tmp_path: Path) -> None:
    """A round that only tried its cases out is told and not judged; nothing else is no data."""
    write_rounds(tmp_path, [_round(1), _round(2, warnings=(QUICK,))])
    write_rounds(tmp_path, [_round(1, tag="v2", warnings=(QUICK,))])
    loaded = _load(tmp_path)
    assert [r.id for r in loaded.of("v1")] == ["v1-c1-1"]
    assert "1 quick rounds of v1 are no results: not judged" in loaded.warnings
    with pytest.raises(NoDataError, match="v2 has only quick rounds"):
        loaded.of("v2")


def test_measuring_marks_quick_rounds_with_this_code() -> None:
    """Both sides of the file agree on the word."""
    assert benchmarks.rounds.QUICK == QUICK
