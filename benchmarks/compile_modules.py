"""Compiles FlashInfer's modules of one stack; run in its environment by `benchmarks.prebuild`.

A module whose every source and flag is the same as of one built before, in another release, is
copied.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.backends.flashinfer_modules import (
    FAILURE_FILE,
    auxiliary_specs,
    compiler_error,
    modules_needed,
)

__all__ = ["main"]

_SOURCES_FILE: Final = "sources.json"
_NINJA_NOTES: Final = ".ninja_deps"


def main(argv: Sequence[str] | None = None) -> int:
    """Build every module the catalog needs into FOLDER/NAME/<module>/."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compile_modules")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--toolchain", required=True)
    options = parser.parse_args(argv)
    target = options.folder / options.name
    named = [(f"{m.path} {m.kv_dtype}", m.spec()) for m in modules_needed()]
    for title, spec in (*named, *((s.name, s) for s in auxiliary_specs())):
        place = target / spec.name
        if (place / f"{spec.name}.so").is_file() or (place / FAILURE_FILE).is_file():
            continue
        told = _reuse(spec, place, options) or _compile(spec, place, options.toolchain)
        sys.stdout.write(f"{options.name} {title}: {told}\n")
        sys.stdout.flush()
    return 0


def _compile(spec: Any, place: Path, toolchain: str) -> str:
    try:
        spec.build(verbose=False)
    except RuntimeError as error:
        if (refusal := compiler_error(str(error))) is None:
            raise
        with _whole(place) as folder:
            note = f"does not compile: {refusal}"
            (folder / FAILURE_FILE).write_text(f"{note}\n", encoding="utf-8")
        return note
    listing = {"toolchain": toolchain, "flags": _flags(spec), "sources": _sources(spec)}
    with _whole(place) as folder:
        shutil.copy2(spec.jit_library_path, folder)
        text = json.dumps(listing, indent=1, sort_keys=True)
        (folder / _SOURCES_FILE).write_text(text, encoding="utf-8")
    return "compiled"


@contextmanager
def _whole(place: Path) -> Iterator[Path]:
    """Give a folder to fill that becomes `place` at the end: half a module is never left there."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".new-") as scratch:
        fresh = Path(scratch, place.name)
        fresh.mkdir()
        yield fresh
        shutil.rmtree(place, ignore_errors=True)
        fresh.rename(place)


def _reuse(spec: Any, place: Path, options: argparse.Namespace) -> str:
    """Copy a module of another release with the same sources; return what was done, if it was."""
    same = {"toolchain": options.toolchain, "flags": _flags(spec)}
    for listing_file in sorted(options.folder.glob(f"*/{spec.name}/{_SOURCES_FILE}")):
        listing = json.loads(listing_file.read_text(encoding="utf-8"))
        sources = listing.pop("sources")
        # An empty list says that ninja kept no notes, not that there is nothing to compare.
        if listing != same or not sources:
            continue
        if all(_hash(_root(key, spec) / key[2:]) == h for key, h in sources.items()):
            with _whole(place) as folder:
                shutil.copytree(listing_file.parent, folder, dirs_exist_ok=True)
            return f"same sources as {listing_file.parent.parent.name}, copied"
    return ""


def _flags(spec: Any) -> str:
    """Return what ninja hands to the compilers, without the paths of this environment."""
    spec.write_ninja()
    flags: str = spec.ninja_path.read_text(encoding="utf-8").partition("\nrule ")[0]
    for key in ("g:", "p:"):
        flags = flags.replace(str(_root(key, spec)), key)
    return flags


def _sources(spec: Any) -> dict[str, str]:
    """Return the hash of every source and header beside FlashInfer that ninja saw being read.

    Keys are `g:` for generated files and `p:` for files of the environment's packages; those of
    the toolchain are left out, as the toolchain is compared by its version.
    """
    own = spec.jit_library_path.parent
    # Up to 0.6.0 one folder above is where ninja runs, and keeps its notes on all modules.
    folder = own if (own / _NINJA_NOTES).is_file() else own.parent
    told = subprocess.run(
        ["ninja", "-C", str(folder), "-f", str(spec.ninja_path), "-t", "deps"],
        capture_output=True,
        text=True,
        check=True,
    )
    sources = {}
    for line in told.stdout.splitlines():
        path = Path(os.path.normpath(Path(folder, line.strip())))
        for kind in ("g:", "p:"):
            if line.startswith(" ") and path.is_relative_to(_root(kind, spec)):
                sources[kind + str(path.relative_to(_root(kind, spec)))] = _hash(path)
    return sources


def _root(key: str, spec: Any) -> Path:
    import flashinfer
    from flashinfer.jit import env

    if key.startswith("g:"):
        return Path(env.FLASHINFER_GEN_SRC_DIR, spec.name).resolve()
    # Beside the package, tvm-ffi's headers are compiled in too.
    return Path(flashinfer.__file__).resolve().parent.parent


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main())
