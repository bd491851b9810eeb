"""Slim wheels, derived from tiny ones."""

import csv
import hashlib
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

import msgspec
import pytest

from benchmarks.adhoc import sha256_of
from benchmarks.errors import UserError
from benchmarks.slim import MANIFEST, SlimWheel, load_manifest, write_slim

FILE = "flashinfer_python-0.6.1-py3-none-any.whl"
INFO = "flashinfer_python-0.6.1.dist-info"
NEEDED = {
    "flashinfer/__init__.py": "__version__ = '0.6.1'",
    "flashinfer/jit/attention/modules.py": "",
    "flashinfer/gemm/workloads.json": "{}",
    "flashinfer/data/csrc/batch_decode.cu": "// read before a prebuilt module is looked for",
    "flashinfer/data/csrc/batch_prefill_paged_kernel_inst.jinja": "",
    "flashinfer/data/cutlass/include/cutlass/arch/arch.h": "struct Sm90 {};",
    f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: flashinfer-python\nVersion: 0.6.1\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}
SOURCES = {
    "flashinfer/data/csrc/fused_moe/moe.cu": "",
    "flashinfer/data/include/flashinfer/attention/decode.cuh": "",
    "flashinfer/data/cutlass/include/cute/tensor.hpp": "",
    "flashinfer/data/cutlass/python/setup.py": "",
    "flashinfer/backend/csrc/kernel.cu": "",
}


def whole_wheel(folder: Path, extra: str = "") -> Path:
    """Write a wheel with Python files and sources for the GPU."""
    folder.mkdir()
    with zipfile.ZipFile(folder / FILE, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**SOURCES, **NEEDED, f"{INFO}/RECORD": extra}.items():
            archive.writestr(name, text)
    return folder / FILE


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    (tmp_path / "wheels").mkdir()
    return tmp_path / "wheels"


def test_what_is_needed_with_prebuilt_modules_stays(tmp_path: Path, wheels: Path) -> None:
    """Python files and what FlashInfer reads at import and plan() stay, and nothing else."""
    write_slim(whole_wheel(tmp_path / "original"), wheels)
    with zipfile.ZipFile(wheels / FILE) as archive:
        assert sorted(archive.namelist()) == sorted([*NEEDED, f"{INFO}/RECORD"])
        assert {n: archive.read(n).decode() for n in NEEDED} == NEEDED


def test_the_record_lists_what_is_there(tmp_path: Path, wheels: Path) -> None:
    """An installer finds the hash and the size of every file."""
    write_slim(whole_wheel(tmp_path / "original"), wheels)
    with zipfile.ZipFile(wheels / FILE) as archive:
        rows = list(csv.reader(archive.read(f"{INFO}/RECORD").decode().splitlines()))
    for name, told, size in rows[:-1]:
        digest = urlsafe_b64encode(hashlib.sha256(NEEDED[name].encode()).digest()).decode()
        assert (told, int(size)) == (f"sha256={digest.rstrip('=')}", len(NEEDED[name]))
    assert [row[0] for row in rows[:-1]] == sorted(NEEDED)
    assert rows[-1] == [f"{INFO}/RECORD", "", ""]


def test_the_manifest_ties_it_to_the_original(tmp_path: Path, wheels: Path) -> None:
    """Both hashes stand there, beside those of wheels before."""
    before = SlimWheel("a" * 64, "b" * 64)
    (wheels / MANIFEST).write_bytes(msgspec.json.encode({"other.whl": before}))
    original = whole_wheel(tmp_path / "original")
    told = write_slim(original, wheels)
    assert told == SlimWheel(sha256_of(original), sha256_of(wheels / FILE))
    assert load_manifest(wheels) == {"other.whl": before, FILE: told}


def test_equal_originals_give_equal_bytes(tmp_path: Path, wheels: Path) -> None:
    """Nothing of when or where it was derived is in it."""
    (tmp_path / "again").mkdir()
    original = whole_wheel(tmp_path / "original")
    assert write_slim(original, wheels) == write_slim(original, tmp_path / "again")


def test_a_folder_without_manifest_has_no_slim_wheels(wheels: Path) -> None:
    """Ordinary folders of wheels need none."""
    assert load_manifest(wheels) == {}


@pytest.mark.parametrize("text", ["", "[]", '{"a.whl": "b"}', '{"a.whl": {"original": "b"}}'])
def test_a_damaged_manifest_is_one_line(wheels: Path, text: str) -> None:
    """Without knowing what a file was derived from, nothing is installed."""
    (wheels / MANIFEST).write_text(text)
    with pytest.raises(UserError, match=r"slim\.json is no manifest of slim wheels"):
        load_manifest(wheels)


def test_what_is_no_wheel_is_one_line(tmp_path: Path, wheels: Path) -> None:
    """A file that cannot be read is named, and leaves nothing behind."""
    (tmp_path / FILE).write_text("cut off")
    with pytest.raises(UserError, match="cannot derive a slim wheel from"):
        write_slim(tmp_path / FILE, wheels)
    assert list(wheels.iterdir()) == []
