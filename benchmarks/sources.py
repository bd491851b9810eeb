"""Digests of a release's attention sources, read from its wheel: by file and by Python function."""

import ast
import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from benchmarks.errors import UserError
from workloads.sources import FileVersions, SourceFile, SourcesFile

__all__ = ["join_sources", "read_sources"]

_DIGITS: Final = 10
_FUNCTION_DIGITS: Final = 6
_INCLUDE: Final = "flashinfer/data/include/flashinfer"
_SHARED: Final = (
    *("allocator.h", "attention_impl.cuh", "cp_async.cuh", "cutlass_utils.cuh", "exception.h"),
    *("fastdiv.cuh", "fp16.h", "frag_layout_swizzle.cuh", "layout.cuh", "math.cuh", "mma.cuh"),
    *("page.cuh", "permuted_smem.cuh", "pos_enc.cuh", "profiler.cuh", "utils.cuh"),
    "vec_dtypes.cuh",
)
"""Headers that attention kernels include, beside those of their own folder."""
_WANTED: Final = (
    *("flashinfer/decode.py", "flashinfer/prefill.py", "flashinfer/utils.py"),
    *("flashinfer/jit/attention/*.py", "flashinfer/jit/core.py", "flashinfer/jit/cpp_ext.py"),
    *(f"{_INCLUDE}/{name}" for name in _SHARED),
    *(f"{_INCLUDE}/attention/*.{ending}" for ending in ("cuh", "h")),
    *("flashinfer/data/csrc/batch_decode*", "flashinfer/data/csrc/batch_prefill*"),
    "flashinfer/data/csrc/tvm_ffi_utils.h",
)
_UNUSED: Final = ("*/blackwell/*", "*mla*", "*/pod.cuh", "*/batch_pod.cuh", "*sm100*", "*sm120*")
"""Other kernels, and those for other GPUs than Hopper."""
_FOLDERS: Final = ("flashinfer/data/cutlass/include/",)
"""Too many files to name: they have one digest together."""


def read_sources(wheel: Path) -> dict[str, SourceFile]:
    """Return the attention sources in a wheel of FlashInfer, by path.

    Raises
    ------
    UserError
        If it cannot be read or is no wheel.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            return dict(_read(archive))
    except (OSError, zipfile.BadZipFile) as error:
        msg = f"{wheel} is no readable wheel: {error}"
        raise UserError(msg) from error


def _read(archive: zipfile.ZipFile) -> Iterator[tuple[str, SourceFile]]:
    names = sorted(name for name in archive.namelist() if not name.endswith("/"))
    for name in names:
        if _is_wanted(name):
            data = archive.read(name)
            functions = _functions(data) if name.endswith(".py") else {}
            yield name, SourceFile(_digest(data, _DIGITS), functions)
    for folder in _FOLDERS:
        within = [name for name in names if name.startswith(folder)]
        if within:
            # A wheel's own checksums tell files apart as well as their bytes, and faster.
            told = "\n".join(f"{name} {archive.getinfo(name).CRC}" for name in within)
            yield folder, SourceFile(_digest(told.encode(), _DIGITS))


def _is_wanted(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _WANTED) and not any(
        fnmatchcase(name, pattern) for pattern in _UNUSED
    )


def _digest(data: bytes, digits: int) -> str:
    return hashlib.sha256(data).hexdigest()[:digits]


def _functions(source: bytes) -> dict[str, str]:
    """Return the digests of functions and methods; what is nested in one belongs to it."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return {}  # Written for a newer Python: the file's own digest still tells that it changed.
    found = dict(_named(module, ""))
    rest = [node for node in module.body if not isinstance(node, _DEFINITIONS)]
    return found | {"<module>": _digest(_text(ast.Module(rest, [])), _FUNCTION_DIGITS)}


_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _named(scope: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, str]]:
    for node in scope.body:
        if isinstance(node, ast.ClassDef):
            yield from _named(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            # Overloads have one name: the last one, which is the implementation, counts.
            yield f"{prefix}{node.name}", _digest(_text(node), _FUNCTION_DIGITS)


def _text(node: ast.AST) -> bytes:
    """Return code without comments and docstrings: those change nothing."""
    for part in ast.walk(node):
        if isinstance(part, (*_DEFINITIONS, ast.Module)) and ast.get_docstring(part) is not None:
            part.body = part.body[1:] or [ast.Pass()]
    return ast.unparse(node).encode()


def join_sources(releases: Mapping[str, Mapping[str, SourceFile]]) -> SourcesFile:
    """Return many releases as one file, in which every version of a file stands once.

    Parameters
    ----------
    releases
        Sources by `library==version`, oldest first.
    """
    files: dict[str, list[SourceFile]] = {}
    for sources in releases.values():
        for path, source in sources.items():
            versions = files.setdefault(path, [])
            if source not in versions:
                versions.append(source)
    ordered = sorted(files.items())
    held = {
        name: tuple(vs.index(sources[path]) if path in sources else -1 for path, vs in ordered)
        for name, sources in releases.items()
    }
    return SourcesFile({path: FileVersions.of(versions) for path, versions in ordered}, held)
