"""Hashes of device code, of library files made up byte by byte."""

import os
import struct
import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.backends.device_code import code_hash, extension_hash, loaded_libraries

MAGIC = 0xBA55ED50
EXECUTED = 0x4


def elf(*sections: tuple[str, int, int, bytes]) -> bytes:
    """An ELF file of sections: name, flags, info and content."""
    all_sections = [("", 0, 0, b""), *sections]
    names = b"".join(name.encode() + b"\0" for name, *_ in all_sections) + b".shstrtab\0"
    all_sections.append((".shstrtab", 0, 0, names))
    body, headers, at = b"", b"", 0
    for name, flags, info, content in all_sections:
        place, kind = 64 + len(body), (3 if name == ".shstrtab" else 1 if name else 0)
        headers += struct.pack(
            "<IIQQQQIIQQ", at, kind, flags, 0, place, len(content), 0, info, 1, 0
        )
        body += content
        at += len(name) + 1
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    count = len(all_sections)
    rest = (3, 190, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, count, count - 1)
    return head + struct.pack("<HHIQQQIHHHHHH", *rest) + body + headers


def gpu_elf(
    code: bytes, registers: int = 32, *, symbol: bytes = b"", constant: bytes = b""
) -> bytes:
    return elf(
        (".strtab", 0, 0, b"_INTERNAL_kernel_cu_" + symbol),
        (".text.kernel", EXECUTED, registers << 24 | 7, code),
        (".nv.constant0.kernel", 0, 0, constant),
    )


def container(*payloads: bytes) -> bytes:
    """What nvcc writes for one source."""
    entries = b"".join(
        struct.pack("<HHIQ", 2, 0x101, 64, len(payload)) + bytes(48) + payload
        for payload in payloads
    )
    whole = struct.pack("<IHHQ", MAGIC, 1, 16, len(entries)) + entries
    return whole + bytes(-len(whole) % 8)


def library(
    path: Path, *containers: bytes, host: bytes = b"host", name: str = ".nv_fatbin"
) -> Path:
    path.write_bytes(elf((".text", EXECUTED, 0, host), (name, 0, 0, b"".join(containers))))
    return path


BASE = (container(gpu_elf(b"one")), container(gpu_elf(b"two"), gpu_elf(b"three")))


def test_the_hash_is_twelve_digits_of_a_known_form(tmp_path: Path) -> None:
    """It is hexadecimal, and the same each time."""
    path = library(tmp_path / "a.so", *BASE)
    found = code_hash(path)
    assert found is not None
    assert len(found) == 12
    assert int(found, 16) >= 0
    assert code_hash(library(tmp_path / "b.so", *BASE)) == found


@pytest.mark.parametrize(
    "containers",
    [
        (container(gpu_elf(b"one", symbol=b"12345")), BASE[1]),
        (container(gpu_elf(b"one", symbol=b"999")), BASE[1]),
        BASE[::-1],
    ],
    ids=["process id", "shorter process id", "order"],
)
def test_another_build_of_the_same_code_is_the_same(
    tmp_path: Path, containers: tuple[bytes, ...]
) -> None:
    """Names that hold the compiler's process id, host code and order of linking do not count."""
    first = code_hash(library(tmp_path / "a.so", *BASE))
    assert code_hash(library(tmp_path / "b.so", *containers, host=b"other")) == first


@pytest.mark.parametrize(
    "containers",
    [
        (container(gpu_elf(b"One")), BASE[1]),
        (container(gpu_elf(b"one", registers=40)), BASE[1]),
        (container(gpu_elf(b"one", constant=b"x")), BASE[1]),
        (BASE[0], container(gpu_elf(b"two"), gpu_elf(b"threE"))),
        (BASE[0],),
        (*BASE, container(b".version 9.0 // PTX")),
    ],
    ids=["code", "registers", "constant", "second entry", "fewer", "more"],
)
def test_other_code_is_another(tmp_path: Path, containers: tuple[bytes, ...]) -> None:
    """Code, registers and constants of every kernel in the file count."""
    first = code_hash(library(tmp_path / "a.so", *BASE))
    assert code_hash(library(tmp_path / "b.so", *containers)) not in {first, None}


def test_code_for_the_device_linker_counts(tmp_path: Path) -> None:
    """A library of relocatable device code keeps it in a section of another name."""
    path = library(tmp_path / "a.so", *BASE, name="__nv_relfatbin")
    assert code_hash(path) == code_hash(library(tmp_path / "b.so", *BASE))


@pytest.mark.parametrize(
    "section", [b"", b"\0" * 40, struct.pack("<IHHQ", MAGIC, 1, 0, 0) * 3, BASE[0][:-30], b"x" * 50]
)
def test_a_section_of_another_form_still_ends(tmp_path: Path, section: bytes) -> None:
    """Whatever a later compiler writes is hashed or left out, and nothing hangs or raises."""
    found = code_hash(library(tmp_path / "a.so", section))
    assert found is None or len(found) == 12


def test_what_holds_no_device_code_has_no_hash(tmp_path: Path) -> None:
    """No file, no library, and a library of host code alone."""
    text = tmp_path / "text.so"
    text.write_text("no library")
    host = tmp_path / "host.so"
    host.write_bytes(elf((".text", EXECUTED, 0, b"host")))
    assert [code_hash(p) for p in (tmp_path / "none.so", text, host)] == [None, None, None]


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    """The hash of a file is kept only as long as the file."""
    path = library(tmp_path / "a.so", *BASE)
    first = code_hash(path)
    library(path, BASE[0])
    os.utime(path, ns=(1, 1))
    assert code_hash(path) != first


def test_an_extension_is_found_by_its_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An imported module's file is hashed; one that is not imported has no hash."""
    module = ModuleType("made_up._C")
    module.__file__ = str(library(tmp_path / "_C.so", *BASE))
    assert extension_hash("made_up._C") is None
    monkeypatch.setitem(sys.modules, "made_up._C", module)
    assert extension_hash("made_up._C") == code_hash(tmp_path / "_C.so")


def test_loaded_libraries_are_files_of_this_process() -> None:
    """An extension module that was imported is among them."""
    import msgspec._core

    assert Path(msgspec._core.__file__).resolve() in loaded_libraries()
