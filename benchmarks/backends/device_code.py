"""Which device code a library file holds: a hash that two builds of equal sources share.

A file's `.nv_fatbin` section is a row of containers, one for each compiled source, and these hold
the GPU's ELF files. Of those only code, registers and constants are hashed: names of internal
symbols hold the compiler's process id, so whole sections of equal sources differ. NVIDIA does
not document the container; its headers are read as nvcc 13.0 writes them.
"""

import hashlib
import io
import struct
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

__all__ = ["code_hash", "extension_hash", "loaded_libraries"]

_SECTIONS: Final = (".nv_fatbin", "__nv_relfatbin")
_CONTAINER: Final = struct.Struct("<IHHQ")
"""Magic, version, bytes of this header, bytes of the entries."""
_MAGIC: Final = 0xBA55ED50
_ENTRY: Final = struct.Struct("<HHIQ")
"""Kind, version, bytes of this header, bytes of the payload."""
_ALIGNMENT: Final = 8
_ELF: Final = b"\x7fELF"
_DIGITS: Final = 12
_REGISTERS_SHIFT: Final = 24
"""The upper byte of a code section's `sh_info` is the registers a thread uses."""


def code_hash(path: Path) -> str | None:
    """Return the first 12 hex digits of a SHA-256 over the device code in a shared library.

    None if the file cannot be read or holds no device code. What is compressed, or no ELF file
    (PTX), is hashed as it lies there.
    """
    try:
        return _hash(path, path.stat().st_mtime_ns)
    except (OSError, ELFError):
        return None


def extension_hash(module: str) -> str | None:
    """Return the hash of the device code in an imported extension module; None without one."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return code_hash(Path(file)) if file else None


def loaded_libraries() -> set[Path]:
    """Return the files that are mapped into this process; none where Linux's /proc is missing."""
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    return {
        Path("/" + path) for _, _, path in (m.partition("/") for m in maps.splitlines()) if path
    }


@cache
def _hash(path: Path, _changed_ns: int) -> str | None:
    with path.open("rb") as file:
        library = ELFFile(file)
        found = [s.data() for name in _SECTIONS if (s := library.get_section_by_name(name))]
    pieces = sorted(
        hashlib.sha256(piece).digest()
        for section in found
        for payload in _payloads(section)
        for piece in _pieces(payload)
    )
    return hashlib.sha256(b"".join(pieces)).hexdigest()[:_DIGITS] if pieces else None


def _payloads(section: bytes) -> Iterator[bytes]:
    """Yield what the entries of a section hold; the rest of it where it has another form."""
    start = 0
    while start + _CONTAINER.size <= len(section):
        magic, _, header, size = _CONTAINER.unpack_from(section, start)
        if magic != _MAGIC:
            yield section[start:]
            return
        end = start + max(header, _CONTAINER.size) + size
        yield from _entries(section[start + header : end])
        start = end + -end % _ALIGNMENT


def _entries(container: bytes) -> Iterator[bytes]:
    place = 0
    while place + _ENTRY.size <= len(container):
        _, _, header, size = _ENTRY.unpack_from(container, place)
        yield container[place + header : place + header + size]
        place += max(header, _ENTRY.size) + size


def _pieces(payload: bytes) -> Iterator[bytes]:
    """Yield code and constants of a GPU's ELF file; anything else whole."""
    if not payload.startswith(_ELF):
        yield payload
        return
    for section in ELFFile(io.BytesIO(payload)).iter_sections():
        if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR:
            registers = section["sh_info"] >> _REGISTERS_SHIFT
            yield registers.to_bytes() + section.data()
        elif section.name.startswith(".nv.constant"):
            yield section.data()
