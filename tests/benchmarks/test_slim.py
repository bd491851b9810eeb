"""Slim wheels, derived from tiny ones."""

import csv
import hashlib
import shutil
import zipfile
from base64 import urlsafe_b64encode
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from benchmarks.adhoc import sha256_of
from benchmarks.errors import UserError
from benchmarks.slim import MANIFEST, SlimWheel, load_manifest, write_slim
from benchmarks.stacks import Wheel
from benchmarks.wheelhouse import fill
from tests.benchmarks.synthetic import stack

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


class FakeIndex:
    """Stands for the package index: hands out one wheel."""

    def __init__(self, original: Path) -> None:
        self.original = original
        self.downloads = 0

    def download(self, name: str, wheel: Wheel, directory: Path) -> Path:
        assert (name, wheel.file) == ("flashinfer-python", FILE)
        self.downloads += 1
        return Path(shutil.copy(self.original, directory))


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeIndex:
    monkeypatch.setattr("benchmarks.wheelhouse.companion_versions", dict)
    return FakeIndex(whole_wheel(tmp_path / "original"))


def fill_slim(index: FakeIndex, folder: Path) -> tuple[Path, ...]:
    published = Wheel(FILE, sha256_of(index.original))
    of = replace(stack("v0.6.1"), wheels={"flashinfer-python": (published,)})
    return fill(index, (of,), folder, "x86_64", slim=True)  # type: ignore[arg-type]


def test_a_wheelhouse_may_be_slim(index: FakeIndex, wheels: Path) -> None:
    """The original is fetched, checked and left behind; a second time nothing is."""
    for _ in range(2):
        assert fill_slim(index, wheels) == (wheels / FILE,)
    assert index.downloads == 1
    assert sorted(p.name for p in wheels.iterdir()) == [FILE, MANIFEST]
    assert load_manifest(wheels)[FILE].original == sha256_of(index.original)


def test_a_damaged_slim_wheel_is_derived_again(index: FakeIndex, wheels: Path) -> None:
    """What is not as the manifest says is no slim wheel, and an original is none either."""
    fill_slim(index, wheels)
    (wheels / FILE).write_text("cut off")
    fill_slim(index, wheels)
    assert index.downloads == 2
    assert sha256_of(wheels / FILE) == load_manifest(wheels)[FILE].sha256
