"""The command `prebuild`: compile FlashInfer's modules ahead, on a machine without a GPU too."""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.errors import UserError
from benchmarks.nvcc_once import STORE_VARIABLE, TALLY_FILE
from benchmarks.paths import ROOT
from benchmarks.process import NOT_INHERITED
from benchmarks.stacks import find_stack
from benchmarks.venv import (
    ensure_environment,
    existing_folder,
    host_site_packages,
    modules_folder,
)

__all__ = ["add_parser", "render_tally"]

_HOPPER: Final = "9.0a"
_STORE: Final = ".objects"
"""In the folder of modules: compiled objects that releases share."""
_RANDOM_NUMBERS: Final = "curand.h"


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `prebuild`."""
    parser = subparsers.add_parser("prebuild", help="compile FlashInfer's modules ahead")
    parser.add_argument("tags", nargs="+", metavar="TAG")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR", help="where modules go")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--arch", default=_HOPPER, help=f"GPU architecture (default {_HOPPER})")
    parser.add_argument(
        "--wheels", type=existing_folder, metavar="DIR", help="install from this folder only"
    )
    parser.set_defaults(func=_prebuild)


def _prebuild(arguments: argparse.Namespace) -> int:
    stacks = [find_stack(tag) for tag in arguments.tags]
    toolchain = f"nvcc {_nvcc_version()} {arguments.arch}"
    try:
        arguments.to.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make the folder {arguments.to}: {error.strerror}"
        raise UserError(msg) from error
    store = arguments.to / _STORE
    before = _tally(store)
    for stack in stacks:
        if "flashinfer-python" not in stack.pins:
            sys.stdout.write(f"{stack.tag} pins no flashinfer-python: nothing to build\n")
            continue
        python = ensure_environment(stack, wheels=arguments.wheels)
        command = [python, "-m", "benchmarks.compile_modules", arguments.to.resolve()]
        command += ["--name", modules_folder(stack), "--toolchain", toolchain]
        with tempfile.TemporaryDirectory(prefix="attention-modules-") as folder:
            done = subprocess.run(
                [str(word) for word in command],
                cwd=ROOT,
                env=_environment(Path(folder), arguments) | _compile_once(python, store),
                check=False,
            )
        if done.returncode != 0:
            msg = f"cannot prebuild {stack.tag}: the compiler's output is above"
            raise UserError(msg)
    sys.stdout.write(render_tally(_tally(store)[len(before) :]))
    return 0


def render_tally(lines: Sequence[str]) -> str:
    """Return one line on how many source files were compiled, and how many need not be."""
    reused = sum(line.startswith("reused ") for line in lines)
    return f"{len(lines) - reused} source files compiled, {reused} taken from equal ones before\n"


def _tally(store: Path) -> list[str]:
    file = store / TALLY_FILE
    return file.read_text(encoding="utf-8").splitlines() if file.is_file() else []


def _nvcc_version() -> str:
    if shutil.which("nvcc") is None:
        msg = "prebuilding needs nvcc (the CUDA toolkit) on PATH"
        raise UserError(msg)
    told = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"V([\d.]+)", told)
    return match[1] if match else "unknown"


def _write_stub(path: Path) -> None:
    command = ["cc", "-shared", "-o", str(path), "-Wl,-soname,libcuda.so.1", "-x", "c", os.devnull]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        msg = "prebuilding needs a C compiler that links, as cc on PATH (Debian: gcc, libc6-dev)"
        raise UserError(msg) from error


def _environment(folder: Path, arguments: argparse.Namespace) -> dict[str, str]:
    """Return what FlashInfer's build reads; the driver's library is replaced by a stub.

    Only the host that runs the module needs the real libcuda.so.1.
    """
    _write_stub(folder / "libcuda.so")
    cuda = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    libraries = [str(folder), str(cuda / "lib64"), str(cuda / "lib")]
    kept = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    return kept | {
        "FLASHINFER_CUDA_ARCH_LIST": arguments.arch,
        "FLASHINFER_WORKSPACE_BASE": str(folder),
        "MAX_JOBS": str(arguments.jobs),
        "LIBRARY_PATH": ":".join([*libraries, os.environ.get("LIBRARY_PATH", "")]),
        "CPATH": ":".join([os.environ.get("CPATH", ""), *_random_numbers(cuda, folder)]),
    }


def _random_numbers(cuda: Path, folder: Path) -> list[str]:
    """Return where cuRAND's headers are, for a toolkit without them: in a wheel beside torch.

    They alone are linked to: the other headers there may be of another version than nvcc.
    """
    if (cuda / "include" / _RANDOM_NUMBERS).is_file():
        return []
    wheels = [p for s in host_site_packages() for p in Path(s).glob("nvidia/*/include/curand*")]
    place = folder / "curand"
    place.mkdir()
    for header in wheels:
        if not (place / header.name).exists():
            (place / header.name).symlink_to(header)
    return [str(place)]


def _compile_once(python: Path, store: Path) -> dict[str, str]:
    """Return the variables that put `benchmarks.nvcc_once` between FlashInfer and nvcc."""
    store.mkdir(exist_ok=True)
    words = ["env", f"PYTHONPATH={ROOT}", str(python), "-m", "benchmarks.nvcc_once"]
    return {STORE_VARIABLE: str(store.resolve()), "FLASHINFER_NVCC": shlex.join(words)}
