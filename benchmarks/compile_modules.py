"""Compiles FlashInfer's modules of one stack; run in its environment by `benchmarks.prebuild`.

A module whose every source is byte-identical to one built before, in another release, is copied.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.backends.flashinfer_modules import (
    FAILURE_FILE,
    compiler_error,
    modules_needed,
)

__all__ = ["main"]

_SOURCES_FILE: Final = "sources.json"


def main(argv: Sequence[str] | None = None) -> int:
    """Build every module the catalog needs into FOLDER/NAME/<module>/."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compile_modules")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--toolchain", required=True)
    options = parser.parse_args(argv)
    target = options.folder / options.name
    for module in modules_needed():
        spec = module.spec()
        place = target / spec.name
        if (place / f"{spec.name}.so").is_file() or (place / FAILURE_FILE).is_file():
            continue
        told = _reuse(spec, place, options) or _compile(spec, place, options.toolchain)
        sys.stdout.write(f"{options.name} {module.path} {module.kv_dtype}: {told}\n")
        sys.stdout.flush()
    return 0


def _compile(spec: Any, place: Path, toolchain: str) -> str:
    place.mkdir(parents=True, exist_ok=True)
    try:
        spec.build(verbose=False)
    except RuntimeError as error:
        if (refusal := compiler_error(str(error))) is None:
            raise
        (place / FAILURE_FILE).write_text(f"does not compile: {refusal}\n", encoding="utf-8")
        return f"does not compile: {refusal}"
    shutil.copy2(spec.jit_library_path, place)
    listing = {"toolchain": toolchain, "sources": _sources(spec)}
    (place / _SOURCES_FILE).write_text(json.dumps(listing, indent=1, sort_keys=True))
    return "compiled"


def _reuse(spec: Any, place: Path, options: argparse.Namespace) -> str:
    """Copy a module of another release with the same sources; return what was done, if it was."""
    for listing_file in sorted(options.folder.glob(f"*/{spec.name}/{_SOURCES_FILE}")):
        listing = json.loads(listing_file.read_text())
        if listing["toolchain"] != options.toolchain:
            continue
        if all(_hash(_root(key, spec) / key[2:]) == h for key, h in listing["sources"].items()):
            shutil.copytree(listing_file.parent, place)
            return f"same sources as {listing_file.parent.parent.name}, copied"
    return ""


def _sources(spec: Any) -> dict[str, str]:
    """Return the hash of every source and header of the package that ninja saw being read.

    Keys are `g:` for generated files and `p:` for files of the package; those of the toolchain
    are left out, as the toolchain is compared by its version.
    """
    told = subprocess.run(
        ["ninja", "-C", str(spec.jit_library_path.parent), "-t", "deps"],
        capture_output=True,
        text=True,
        check=True,
    )
    sources = {}
    for line in told.stdout.splitlines():
        path = Path(os.path.normpath(Path(spec.jit_library_path.parent, line.strip())))
        for kind in ("g:", "p:"):
            if line.startswith(" ") and path.is_relative_to(_root(kind, spec)):
                sources[kind + str(path.relative_to(_root(kind, spec)))] = _hash(path)
    return sources


def _root(key: str, spec: Any) -> Path:
    import flashinfer
    from flashinfer.jit import env

    if key.startswith("g:"):
        return Path(env.FLASHINFER_GEN_SRC_DIR, spec.name)
    return Path(flashinfer.__file__).parent


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main())
