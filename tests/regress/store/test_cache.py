"""The columnar copy of round files is never trusted over them."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from regress.store import cache
from regress.store.cache import CACHE, load_cached, read_cache, write_cache
from regress.store.columns import Columns, join_sheets
from regress.store.intact import Intact
from regress.store.tree import scan
from tests.regress.builders import CASE, MACHINE, OTHER, lost, make_round, measured, write_rounds
from workloads.record import Facts, Kernel

pytest.importorskip("pyarrow")

KERNEL = Kernel("BatchPrefillWithPagedKVCacheKernel", (66, 1, 4), (128, 1, 1))


def _write(root: Path) -> list[Path]:
    records = (
        measured(CASE, 100.0, kernels=(KERNEL,), facts=Facts(cubin="a", chunk_tokens=512)),
        lost(OTHER),
    )
    return write_rounds(root, [make_round("v0.6.0", n, records) for n in range(4)])


def _load(root: Path) -> Intact:
    return load_cached(scan((root,)), MACHINE.name, fewest=1)


def _copy(root: Path) -> Path:
    return root / MACHINE.name / CACHE


def _columns(intact: Intact) -> Columns:
    return join_sheets(intact.sheets)


def _same(one: Columns, other: Columns) -> bool:
    names = ("time_us", "plan_us", "status", "ran")
    arrays = all(
        np.array_equal(getattr(one, n), getattr(other, n), equal_nan=n.endswith("_us"))
        for n in names
    )
    return arrays and (one.heads, one.cases, one.told) == (other.heads, other.cases, other.told)


def _forbid_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object) -> None:
        msg = "a round file was read although its copy is good"
        raise AssertionError(msg)

    monkeypatch.setattr(cache, "read_sheet", read)


def test_the_copy_holds_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading from the copy alone gives what loading the files gave, to the last bit."""
    _write(tmp_path)
    from_files = _columns(_load(tmp_path))
    _forbid_reading(monkeypatch)
    assert _same(_columns(_load(tmp_path)), from_files)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    """Its new number counts, though name, size and time are those of before."""
    path = _write(tmp_path)[0]
    _load(tmp_path)
    before, data = path.stat(), gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(data.replace(b"100.0", b"900.0"), mtime=0))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert 900.0 in _columns(_load(tmp_path)).time_us[:, 0]


def test_a_deleted_file_is_left_out(tmp_path: Path) -> None:
    """What has no file any more does not count, and the copy forgets it."""
    gone = _write(tmp_path)[0]
    _load(tmp_path)
    gone.unlink()
    assert len(_load(tmp_path).sheets) == 3
    assert len(read_cache(_copy(tmp_path))) == 3


def test_a_new_file_is_added(tmp_path: Path) -> None:
    """A round that came since is read, and the copy holds it from then on."""
    _write(tmp_path)
    _load(tmp_path)
    write_rounds(tmp_path, [make_round("v0.6.1", 1, [measured(CASE, 50.0)])])
    assert len(_load(tmp_path).sheets) == 5
    assert len(read_cache(_copy(tmp_path))) == 5


@pytest.mark.parametrize("at", [0, 40, 200, -50, -1])
def test_a_tampered_copy_is_thrown_away(tmp_path: Path, at: int) -> None:
    """One byte that is not as written, wherever it is, and everything is read from the files."""
    _write(tmp_path)
    from_files = _columns(_load(tmp_path))
    copy = _copy(tmp_path)
    data = bytearray(copy.read_bytes())
    data[at] ^= 0xFF
    copy.write_bytes(data)
    assert read_cache(copy) == {}
    assert _same(_columns(_load(tmp_path)), from_files)
    assert len(read_cache(copy)) == 4


def test_a_copy_that_is_none(tmp_path: Path) -> None:
    """Another file of this name is no copy."""
    _write(tmp_path)
    _copy(tmp_path).write_bytes(b"nothing")
    assert len(_load(tmp_path).sheets) == 4


def test_a_damaged_file_stays_damaged(tmp_path: Path) -> None:
    """The copy does not stand in for a file that became unreadable."""
    path = _write(tmp_path)[0]
    _load(tmp_path)
    path.write_bytes(path.read_bytes()[:50])
    intact = _load(tmp_path)
    assert [file.path for file in intact.damaged] == [str(path)]
    assert len(intact.sheets) == 3


def test_where_it_cannot_be_written(tmp_path: Path) -> None:
    """A place that takes no file costs nothing but time."""
    write_cache(_load_files(tmp_path).sheets, tmp_path / "missing" / CACHE)
    assert not (tmp_path / "missing").exists()


def _load_files(root: Path) -> Intact:
    _write(root)
    return load_cached(scan((root,)), MACHINE.name)


def test_few_files_need_no_copy(tmp_path: Path) -> None:
    """Below the number of files from which it pays, none is written."""
    _load_files(tmp_path)
    assert not _copy(tmp_path).exists()


def test_it_is_no_round_file(tmp_path: Path) -> None:
    """A copy beside the rounds is neither read nor complained of as one."""
    _write(tmp_path)
    _load(tmp_path)
    assert scan((tmp_path,)).ignored == ()
    assert _load(tmp_path).warnings == ()
