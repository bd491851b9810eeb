"""Reads a host once: all input and output of the doctor is here and in `benchmarks.doctor.card`."""

import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.doctor.card import load_card
from benchmarks.doctor.snapshot import Host, StackNeeds, Torch
from benchmarks.paths import ENVIRONMENTS, ROOT
from benchmarks.stacks import Stack
from benchmarks.venv import modules_folder

__all__ = ["load_host"]

_TIMEOUT_S: Final = 300
_FLASHINFER: Final = "flashinfer-python"


def load_host(stacks: tuple[Stack, ...], wheels: Path | None, modules: Path | None) -> Host:
    """Read what the rules ask about.

    Parameters
    ----------
    stacks
        What is to be measured, if that is known.
    wheels, modules
        Folders to install from and of prebuilt modules, None for none.
    """
    torch = _load_torch()
    card, nvml_problem = load_card(torch.gpu_uuid, _output("dmesg"))
    nvcc = re.search(r"release [\d.]+, V([\d.]+)", _output("nvcc", "--version") or "")
    place = next(p for p in (ENVIRONMENTS, *ENVIRONMENTS.parents) if p.exists())
    files = () if wheels is None else tuple(path.name for path in wheels.glob("*.whl"))
    return Host(
        python=sys.version_info[:2],
        has_device_files=any(Path("/dev").glob("nvidia[0-9]*")),
        torch=torch,
        card=card,
        nvml_problem=nvml_problem,
        nvcc=nvcc[1] if nvcc else "",
        has_ninja=shutil.which("ninja") is not None,
        compiles=_compiles(stacks, modules),
        place=str(place),
        free_bytes=shutil.disk_usage(place).free,
        wheels="" if wheels is None else str(wheels),
        wheel_count=len(files),
        stacks=tuple(_needs(s, None if wheels is None else files) for s in stacks),
    )


def _compiles(stacks: tuple[Stack, ...], modules: Path | None) -> bool:
    """Say whether a stack lacks prebuilt modules; without stacks a folder is taken to be enough."""
    if modules is None:
        return not stacks or any(_FLASHINFER in stack.pins for stack in stacks)
    wanted = [s for s in stacks if _FLASHINFER in s.pins]
    lacking = any(not any((modules / modules_folder(s)).glob("*/*.so")) for s in wanted)
    return lacking or not modules.is_dir()


def _needs(stack: Stack, files: tuple[str, ...] | None) -> StackNeeds:
    missing = [
        f"{name} {version}"
        for name, version in stack.pins.items()
        if files is not None and not any(_have(w.file, w.path, files) for w in stack.wheels[name])
    ]
    return StackNeeds(stack.tag, stack.cuda, tuple(missing))


def _have(file: str, path: str, files: tuple[str, ...]) -> bool:
    """Say whether a wheel for this processor is there; those of ad-hoc stacks lie elsewhere."""
    runs_here = file.endswith((f"_{platform.machine()}.whl", "-any.whl"))
    return Path(path).is_file() if path else runs_here and file in files


def _load_torch() -> Torch:
    command = [sys.executable, "-m", "benchmarks.doctor.torch_facts"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        return Torch(problem=f"torch does not answer within {_TIMEOUT_S} s")
    try:
        # Libraries that torch imports may print before.
        return msgspec.json.decode(done.stdout.rpartition("\n")[2], type=Torch)
    except msgspec.DecodeError:
        told = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return Torch(problem=f"torch ends with {done.returncode}: {told}")


def _output(*command: str) -> str | None:
    """Return what a command prints, None if it is not there, fails or hangs."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout
