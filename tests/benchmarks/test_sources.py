"""Digests of attention sources, read from made-up wheels."""

import zipfile
from pathlib import Path

import pytest

from benchmarks.errors import UserError
from benchmarks.sources import join_sources, read_sources
from benchmarks.sources_command import load_releases

DECODE = '''
"""Module."""
LIMIT = 3

class Wrapper:
    """Doc."""

    def plan(self):
        """Doc."""
        return LIMIT  # a comment

    def run(self):
        return 1
'''


def _wheel(path: Path, decode: str = DECODE, **others: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("flashinfer/decode.py", decode)
        archive.writestr("flashinfer/fused_moe/core.py", "x = 1")
        archive.writestr("flashinfer/data/include/flashinfer/attention/prefill.cuh", "// kernel")
        archive.writestr("flashinfer/data/include/flashinfer/attention/mla.cuh", "// other")
        archive.writestr("flashinfer/data/cutlass/include/a.hpp", "// a")
        for name, text in others.items():
            archive.writestr(name.replace("__", "/"), text)
    return path


def test_only_attention_sources(tmp_path: Path) -> None:
    """Kernels of other kinds are left out, and a large folder has one digest."""
    assert list(read_sources(_wheel(tmp_path / "a.whl"))) == [
        "flashinfer/data/include/flashinfer/attention/prefill.cuh",
        "flashinfer/decode.py",
        "flashinfer/data/cutlass/include/",
    ]


def test_functions_without_comments(tmp_path: Path) -> None:
    """Comments and docstrings change the file's digest and no function's."""
    one = read_sources(_wheel(tmp_path / "a.whl"))["flashinfer/decode.py"]
    text = DECODE.replace("a comment", "another").replace("Doc.", "Other words.")
    other = read_sources(_wheel(tmp_path / "b.whl", text))["flashinfer/decode.py"]
    assert one.digest != other.digest
    assert one.functions == other.functions
    assert set(one.functions) == {"Wrapper.plan", "Wrapper.run", "<module>"}


def test_one_function_changes(tmp_path: Path) -> None:
    """Only the function whose code differs has another digest."""
    one = read_sources(_wheel(tmp_path / "a.whl"))["flashinfer/decode.py"].functions
    text = DECODE.replace("return 1", "return 2")
    other = read_sources(_wheel(tmp_path / "b.whl", text))["flashinfer/decode.py"].functions
    assert {name for name in one if one[name] != other[name]} == {"Wrapper.run"}


def test_code_for_a_newer_python(tmp_path: Path) -> None:
    """A file that this Python cannot parse still has its own digest."""
    found = read_sources(_wheel(tmp_path / "a.whl", "def (:"))["flashinfer/decode.py"]
    assert found.digest
    assert found.functions == {}


def test_joining_keeps_each_version_once(tmp_path: Path) -> None:
    """What two releases share stands once, and each gets its own files back."""
    one = read_sources(_wheel(tmp_path / "a.whl"))
    text = DECODE.replace("return 1", "return 2")
    other = read_sources(_wheel(tmp_path / "b.whl", text))
    del other["flashinfer/data/cutlass/include/"]
    joined = join_sources({"x==1": one, "x==2": other, "x==3": one})
    kernel = "flashinfer/data/include/flashinfer/attention/prefill.cuh"
    assert len(joined.files[kernel].digests) == 1
    assert len(joined.files["flashinfer/decode.py"].digests) == 2
    assert [joined.of(f"x=={n}") for n in (1, 2, 3)] == [one, other, one]


def test_no_wheel(tmp_path: Path) -> None:
    """A file that is no wheel is named."""
    path = tmp_path / "a.whl"
    path.write_bytes(b"no zip")
    with pytest.raises(UserError, match=r"a\.whl is no readable wheel"):
        read_sources(path)


def test_only_the_pinned_wheels(tmp_path: Path) -> None:
    """A wheel with another hash than the list of stacks is refused, missing ones are named."""
    _wheel(tmp_path / "flashinfer_python-0.6.1-py3-none-any.whl")
    with pytest.raises(UserError, match="another sha256"):
        load_releases(tmp_path)
    (tmp_path / "flashinfer_python-0.6.1-py3-none-any.whl").unlink()
    found, missing = load_releases(tmp_path)
    assert found == {}
    assert "0.6.1" in missing
