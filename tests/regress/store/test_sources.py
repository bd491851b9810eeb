"""What differs between the attention sources of two releases."""

from pathlib import Path

import msgspec
import pytest

from regress.errors import UsageError
from regress.model.cause import ChangedFile
from regress.store.sources import SOURCES_FILE, Sources, load_sources
from regress.store.stacks import PublishedStack
from workloads.sources import FileVersions, SourceFile, SourcesFile

LIBRARY = "flashinfer-python"


def _stack(tag: str, version: str, ffi: str = "1") -> PublishedStack:
    pins = ((LIBRARY, version), ("apache-tvm-ffi", ffi))
    return PublishedStack(tag, 1, frozenset(dict(pins)), "", pins)


STACKS = (_stack("v1", "1"), _stack("v2", "2"), _stack("v3", "3", "2"), _stack("v4", "4"))


def _sources(tmp_path: Path) -> Sources:
    versions = [SourceFile("a", {"plan": "1", "run": "1"}), SourceFile("b", {"plan": "2"})]
    files = {
        "flashinfer/decode.py": FileVersions.of(versions),
        "flashinfer/jit/core.py": FileVersions(("x", "y")),
        "new.cuh": FileVersions(("n",)),
    }
    held = {f"{LIBRARY}==1": (0, 0, -1), f"{LIBRARY}==2": (1, 0, 0), f"{LIBRARY}==3": (1, 1, 0)}
    path = tmp_path / "sources.json"
    path.write_bytes(msgspec.json.encode(SourcesFile(files, held)))
    return load_sources(path, STACKS)


def test_files_and_functions(tmp_path: Path) -> None:
    """Changed, added and removed files are told, and in Python the functions."""
    sources = _sources(tmp_path)
    assert sources.changed("v1", "v2") == (
        ChangedFile("flashinfer/decode.py", "changed", ("plan", "run")),
        ChangedFile("new.cuh", "added"),
    )
    back = sources.changed("v2", "v1")
    assert back is not None
    assert [file.change for file in back] == ["changed", "removed"]


def test_same_sources(tmp_path: Path) -> None:
    """What only builds modules, and other libraries, are no attention sources."""
    sources = _sources(tmp_path)
    assert sources.same("v2", "v3")
    assert not sources.same("v1", "v2")


def test_unknown_is_not_the_same(tmp_path: Path) -> None:
    """Of a release or a stack that is not kept nothing is said."""
    sources = _sources(tmp_path)
    assert sources.changed("v3", "v4") is None
    assert sources.same("v1", "mine") is None
    assert load_sources(tmp_path / "none.json", STACKS).same("v1", "v2") is None


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"files": {}, "releases": {}, "schema": 99}',
        '{"files": {}, "releases": {"a==1": [0]}}',
        '{"files": {"f": {"digests": []}}, "releases": {"a==1": [3]}}',
    ],
)
def test_a_damaged_file(tmp_path: Path, text: str) -> None:
    """It ends in one line that says how to make it again."""
    path = tmp_path / "sources.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="python -m benchmarks sources"):
        load_sources(path, STACKS)


def test_the_kept_file() -> None:
    """It is small, knows twins from releases that differ, and names what a real change touched."""
    sources = load_sources()
    assert SOURCES_FILE.stat().st_size < 300_000
    assert len(sources.releases) >= 43
    assert sources.same("v0.6.0", "v0.6.1")
    changed = sources.changed("v0.6.3", "v0.6.4")
    assert changed is not None
    functions = {file.path: file.functions for file in changed}
    assert "BatchDecodeWithPagedKVCacheWrapper.plan" in functions["flashinfer/decode.py"]
    assert not any("hopper" in path for path in functions)


def test_identical_libraries(tmp_path: Path) -> None:
    """The same pin, no differing file, or a library of the set-up; anything unknown is not."""
    sources = _sources(tmp_path)
    assert sources.identical("apache-tvm-ffi", "v1", "v2")
    assert not sources.identical("apache-tvm-ffi", "v2", "v3")
    assert not sources.identical(LIBRARY, "v1", "v2")
    assert not sources.identical(LIBRARY, "v3", "v4")
    assert not sources.identical("fa3-fwd", "v1", "v2")
    assert not sources.identical(LIBRARY, "v1", "mine")
    assert sources.identical("torch", "v1", "mine")
    assert load_sources().identical(LIBRARY, "v0.6.16", "v0.6.16.post1")
    assert not load_sources().identical(LIBRARY, "v0.6.0", "v0.6.1")
