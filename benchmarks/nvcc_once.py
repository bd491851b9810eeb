"""A front for nvcc that compiles the same code once, whichever release it comes from.

FlashInfer runs it in nvcc's place (FLASHINFER_NVCC, `python -m benchmarks.nvcc_once`). Releases
differ mostly outside the attention kernels, in comments and in line numbers. What decides is the
text that nvcc's own preprocessing passes, host and device, hand to its compilers; a general
compiler cache looks at one of the two, and at line numbers and folders.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from benchmarks.backends.flashinfer_modules import compiler_error

__all__ = ["STORE_VARIABLE", "TALLY_FILE", "main"]

STORE_VARIABLE: Final = "ATTN_OBJECT_STORE"
"""Folder of compiled objects, `<key>.o`, and of the compiler's refusals, `<key>.refused`."""
TALLY_FILE: Final = "tally.txt"
"""In the store: one line a source file, `compiled KEY` or `reused KEY`."""
_PASS: Final = re.compile(r"^#\$ (\S*(?:gcc|g\+\+|cc|c\+\+)\S* .*-E -x c\+\+ .*)$", re.MULTILINE)
_LINE_MARKER: Final = re.compile(rb'^# \d+ "([^"\n]*)".*\n', re.MULTILINE)
_BLANK: Final = re.compile(rb"^[ \t]*\n", re.MULTILINE)
_COMPRESSION: Final = re.compile(r"-Xfatbin=-compress|--compress-mode=")
"""Left out: later releases ask for it, and compressed code cannot be compared with other code."""
_VALUED: Final = ("-o", "-MF", "-I", "-isystem", "-c")


@dataclass(frozen=True, slots=True)
class _Source:
    """One preprocessed source file: what its code is, and the files it was read from."""

    key: str
    files: tuple[str, ...]


def main(argv: Sequence[str] | None = None) -> int:
    """Do what nvcc would with these arguments, from the store where it holds the same code."""
    words = [w for w in (sys.argv[1:] if argv is None else argv) if not _COMPRESSION.match(w)]
    store, target = os.environ.get(STORE_VARIABLE), _value(words, "-o")
    passes = _passes(words) if store and target and "-c" in words else ()
    if not (store and target and passes):
        return subprocess.run(["nvcc", *words], check=False).returncode
    source = _preprocessed(words, passes)
    if source is None:  # nvcc says why.
        return subprocess.run(["nvcc", *words], check=False).returncode
    kept, refused = (Path(store, source.key + suffix) for suffix in (".o", ".refused"))
    if refused.is_file():
        sys.stderr.write(refused.read_text(encoding="utf-8"))
        return 1
    if done := kept.is_file():
        shutil.copyfile(kept, target)
        _write_dependencies(words, target, source.files)
    elif status := _compile(words, Path(target), kept, refused):
        return status
    with Path(store, TALLY_FILE).open("a", encoding="utf-8") as file:
        file.write(f"{'reused' if done else 'compiled'} {source.key}\n")
    return 0


def _compile(words: Sequence[str], target: Path, kept: Path, refused: Path) -> int:
    done = subprocess.run(["nvcc", *words], capture_output=True, text=True, check=False)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    if done.returncode == 0:
        _put(kept, target.read_bytes())
    elif compiler_error(done.stdout + done.stderr) is not None:
        _put(refused, (done.stdout + done.stderr).encode())
    return done.returncode


def _value(words: Sequence[str], option: str) -> str | None:
    return words[words.index(option) + 1] if option in words[:-1] else None


def _passes(words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the preprocessor commands that nvcc would run, without the files they write."""
    command = ["nvcc", "--dryrun", *words]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    commands = []
    for line in _PASS.findall(told):
        words = shlex.split(line)
        place = words.index("-o")
        commands.append((*words[:place], *words[place + 2 :]))
    return tuple(commands)


def _preprocessed(words: Sequence[str], passes: Iterable[Sequence[str]]) -> _Source | None:
    """Return what the compilers would be given; None if a pass fails."""
    digest, files = hashlib.sha256(), set()
    toolchain = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True)
    for word in (*_flags(words), toolchain.stdout):
        digest.update(word.encode() + b"\0")
    folders = _folders(words)
    for command in passes:
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode != 0:
            return None
        digest.update(_plain(done.stdout, folders) + b"\0")
        files |= {name.decode() for name in _LINE_MARKER.findall(done.stdout)}
    real = tuple(sorted(name for name in files if Path(name).is_file()))
    return _Source(digest.hexdigest()[:32], real)


def _flags(words: Sequence[str]) -> list[str]:
    """Return the arguments that are no path: what is included is in the text itself."""
    pairs = pairwise(["", *words])
    return [w for b, w in pairs if not (b in _VALUED or w in _VALUED or w.startswith("-I"))]


def _folders(words: Sequence[str]) -> list[bytes]:
    """Return the folders of headers and of the source, longest first."""
    found = {word[2:] for word in words if word.startswith("-I")}
    found |= {b for a, b in pairwise(words) if a in {"-I", "-isystem"}}
    source = _value(words, "-c")
    found |= {str(Path(source).parent)} if source else set()
    return sorted((f.encode() for f in found - {""}), key=len, reverse=True)


def _plain(text: bytes, folders: Iterable[bytes]) -> bytes:
    """Return preprocessed text without line numbers and without where this release lies."""
    text = _BLANK.sub(b"", _LINE_MARKER.sub(b"", text))
    for folder in folders:
        text = text.replace(folder, b"")
    return text


def _write_dependencies(words: Sequence[str], target: str, files: Iterable[str]) -> None:
    """Write what ninja keeps its notes from, as the compiler would have."""
    if (path := _value(words, "-MF")) is not None:
        listed = " \\\n  ".join(name.replace(" ", "\\ ") for name in files)
        Path(path).write_text(f"{target}: {listed}\n", encoding="utf-8")


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as scratch:
        scratch.write(content)
    Path(scratch.name).rename(path)


if __name__ == "__main__":
    sys.exit(main())
