"""Slim wheels: what of FlashInfer's wheel is needed where its modules are prebuilt.

A release's wheel is up to 100 MB, mostly sources for the GPU. What is left without them are the
Python files, and the few sources that FlashInfer reads before it looks for a prebuilt module.
A manifest beside the wheels ties each to the original that a stack pins.
"""

import base64
import hashlib
import io
import re
import zipfile
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.adhoc import sha256_of
from benchmarks.errors import UserError

__all__ = ["MANIFEST", "SLIMMED", "SlimWheel", "load_manifest", "write_slim"]

MANIFEST: Final = "slim.json"
SLIMMED: Final = "flashinfer-python"
"""The only distribution that is slimmed."""
_KEPT: Final = re.compile(
    r"flashinfer/(?!data/).*\.(py|json)"
    r"|flashinfer/data/csrc/batch_(decode|prefill)[^/]*"
    # FlashInfer looks there for which architectures it can name (from 0.6.17 on).
    r"|flashinfer/data/cutlass/include/cutlass/arch/arch\.h"
    r"|[^/]+\.dist-info/(?!RECORD).*"
)
_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)


class SlimWheel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One slim wheel; its file is called as the original is.

    Attributes
    ----------
    original, sha256
        SHA-256 of the wheel it was derived from, and its own, in hexadecimal.
    """

    original: str
    sha256: str


def write_slim(original: Path, directory: Path) -> SlimWheel:
    """Derive the slim wheel of a wheel, and enter it in the directory's manifest.

    The same original gives the same bytes: they are stored uncompressed, in the order of names.

    Raises
    ------
    UserError
        If the original cannot be read or the directory cannot be written.
    """
    path = directory / original.name
    try:
        path.write_bytes(_derive(original))
    except (OSError, zipfile.BadZipFile) as error:
        msg = f"cannot derive a slim wheel from {original}: {error}"
        raise UserError(msg) from error
    slim = SlimWheel(sha256_of(original), sha256_of(path))
    entries = load_manifest(directory) | {path.name: slim}
    content = msgspec.json.encode(dict(sorted(entries.items())))
    (directory / MANIFEST).write_bytes(msgspec.json.format(content) + b"\n")
    return slim


def load_manifest(directory: Path) -> dict[str, SlimWheel]:
    """Return the slim wheels of a directory by file name; none without a manifest.

    Raises
    ------
    UserError
        If the manifest is damaged.
    """
    path = directory / MANIFEST
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, SlimWheel])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError) as error:
        msg = f"{path} is no manifest of slim wheels ({error}): make them again"
        raise UserError(msg) from error


def _derive(original: Path) -> bytes:
    with zipfile.ZipFile(original) as archive:
        names = sorted(n for n in archive.namelist() if _KEPT.fullmatch(n) and n[-1] != "/")
        files = {name: archive.read(name) for name in names}
        (record,) = (n for n in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/RECORD", n))
    lines = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items()]
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), data)
    return content.getvalue()


def _digest(data: bytes) -> str:
    """Return a hash as a wheel's RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
