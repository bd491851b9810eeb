"""The ledger: a git repository with one commit a stack, which asv benchmarks.

It is derived from the lists of stacks, byte for byte the same on every machine: fixed identity,
times from the stacks, no git configuration but its own. Lightweight tags, because asv shows an
annotated one as `v0.6.1^0`.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.errors import UserError
from benchmarks.paths import LEDGER
from benchmarks.stacks import Stack, format_time, load_stacks

__all__ = ["BRANCH", "add_parser", "render_stream", "write_ledger"]

BRANCH: Final = "main"
_IDENTITY: Final = "Attention Ledger <ledger@invalid>"
_STAMP: Final = "stream.sha256"


def render_stream(stacks: tuple[Stack, ...]) -> bytes:
    """Return the `git fast-import` stream of these stacks, in their order."""
    return "".join(part for i in range(len(stacks)) for part in _commit(stacks, i)).encode()


def _commit(stacks: tuple[Stack, ...], index: int) -> Iterator[str]:
    stack, mark = stacks[index], index + 1
    pins = ", ".join(f"{name}=={version}" for name, version in sorted(stack.pins.items()))
    who = f"{_IDENTITY} {int(stack.time.timestamp())} +0000"
    yield f"commit refs/heads/{BRANCH}\nmark :{mark}\nauthor {who}\ncommitter {who}\n"
    yield _data(f"{stack.tag}: {pins}\n")
    if index:
        yield f"from :{index}\n"
    yield "deleteall\n"
    for name, text in (("requirements.txt", stack.requirements()), ("stack.json", _facts(stack))):
        yield f"M 100644 inline {name}\n{_data(text)}"
    yield f"reset refs/tags/{stack.tag}\nfrom :{mark}\n\n"


def _facts(stack: Stack) -> str:
    facts = {
        "tag": stack.tag,
        "time": format_time(stack.time),
        "digest": stack.digest,
        "pins": dict(stack.pins),
    }
    return json.dumps(facts, indent=2, sort_keys=True) + "\n"


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"


def write_ledger(stacks: tuple[Stack, ...], path: Path = LEDGER) -> Path:
    """Make the ledger, unless it is there and up to date already.

    Parameters
    ----------
    stacks
        What it holds, in this order.
    path
        Its directory; a ledger of other stacks there is replaced as a whole.

    Returns
    -------
    Path
        `path`.

    Raises
    ------
    UserError
        If git is missing or refuses, the path holds something else, or cannot be written.
    """
    stream = render_stream(stacks)
    key = hashlib.sha256(stream).hexdigest()
    try:
        if (path / ".git" / _STAMP).is_file():
            if _is_whole(path, key):
                return path
        elif path.exists():
            msg = f"{path} is no ledger: remove it, or name another place"
            raise UserError(msg)
        _replace(path, stream, key)
    except OSError as error:
        msg = f"cannot make the ledger: {error}; if an old one is in the way, remove {path}"
        raise UserError(msg) from error
    return path


def _is_whole(path: Path, key: str) -> bool:
    """Whether git, as asv runs it, finds all that was made of this key."""
    try:
        _git(path, "fsck", "--no-dangling", "--no-progress", neutral=False)
        refs = _git(path, "for-each-ref", neutral=False)
    except UserError:
        return False
    return (path / ".git" / _STAMP).read_bytes() == f"{key}\n{refs}".encode()


def _replace(path: Path, stream: bytes, key: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".ledger-") as scratch:
        fresh = Path(scratch) / "ledger"
        _git(None, "init", "--quiet", "--object-format=sha1", f"--initial-branch={BRANCH}", fresh)
        _git(fresh, "fast-import", "--quiet", "--date-format=raw", stream=stream)
        _git(fresh, "reset", "--quiet", "--hard")
        stamp = f"{key}\n{_git(fresh, 'for-each-ref')}"
        (fresh / ".git" / _STAMP).write_text(stamp, encoding="utf-8")
        # Beside it, as another user's folder can be renamed but not moved.
        old = path.with_name(f"{Path(scratch).name}-old")
        if path.exists():
            path.rename(old)
        fresh.rename(path)
    shutil.rmtree(old, ignore_errors=True)


def _git(
    repository: Path | None,
    *arguments: str | Path,
    stream: bytes | None = None,
    neutral: bool = True,
) -> str:
    where = [] if repository is None else ["-C", str(repository)]
    set_here = {"LC_ALL": "C"}
    if repository is not None:
        # A damaged ledger is not to be taken for the checkout around it.
        set_here["GIT_CEILING_DIRECTORIES"] = str(repository.absolute().parent)
    if neutral:
        set_here |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    command = ["git", *where, *map(str, arguments)]
    try:
        done = subprocess.run(
            command, input=stream, check=True, capture_output=True, env=kept | set_here
        )
    except FileNotFoundError as error:
        msg = "the ledger needs git: install it"
        raise UserError(msg) from error
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip().splitlines()[:1]
        msg = f"git {arguments[0]} failed: {' '.join(reason)}"
        raise UserError(msg) from error
    return done.stdout.decode()


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `ledger`."""
    parser = subparsers.add_parser("ledger", help="make the git repository that asv benchmarks")
    parser.add_argument("--to", type=Path, default=LEDGER, metavar="DIR", help="where to make it")
    parser.set_defaults(func=_run)


def _run(arguments: argparse.Namespace) -> None:
    stacks = load_stacks()
    sys.stdout.write(f"{write_ledger(stacks, arguments.to)}: {len(stacks)} stacks\n")
