"""The host's fingerprint and the attention libraries this process can import."""

import importlib
import importlib.metadata
import importlib.util
import platform
import re
import subprocess
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from benchmarks.backends.adapter import Libraries
from workloads.record import Machine

__all__ = [
    "WrongVersionError",
    "fingerprint",
    "gpu_of_host",
    "has_gpu",
    "load_libraries",
    "machine_name",
]

_MODULES: Final = {
    "flashinfer-python": "flashinfer",
    "fa3-fwd": "fa3_fwd_interface",
    "flash-attn": "flash_attn",
    "apache-tvm-ffi": "tvm_ffi",
}
"""Import name of each distribution a stack may pin."""


class WrongVersionError(Exception):
    """The process would measure another version than the stack pins: never a result."""


def has_gpu() -> bool:
    """Say whether torch is here and sees a CUDA device."""
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def gpu_of_host() -> tuple[str, str]:
    """Return the first GPU's model and its driver's version; empty without a GPU."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "", ""
    first = done.stdout.splitlines()[:1] if done.returncode == 0 else []
    name, _, driver = "".join(first).partition(", ")
    return name, driver


def machine_name(gpu: str) -> str:
    """Return a short name for a GPU model: `NVIDIA H200` is `h200`."""
    words = re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
    return words.removeprefix("nvidia-") or "cpu"


def fingerprint(name: str | None, *, gpu: bool) -> Machine:
    """Return where this process runs, on the GPU or the CPU.

    Parameters
    ----------
    name
        Overrides the name made from the GPU model.
    gpu
        Whether the GPU is measured; torch is imported only then.
    """
    python = platform.python_version()
    if not gpu:
        torch = _version("torch")
        return Machine(name or "cpu", "cpu", "", 0, "", "", "", torch, python)
    import torch as t

    card = t.cuda.get_device_properties(0)
    return Machine(
        name=name or machine_name(card.name),
        gpu=card.name,
        gpu_uuid=f"GPU-{card.uuid}",
        sm_count=card.multi_processor_count,
        driver=_output(
            r"([\d.]+)", "nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"
        ),
        cuda=str(t.version.cuda),
        nvcc=_output(r"release [\d.]+, V([\d.]+)", "nvcc", "--version"),
        torch=_version("torch"),
        python=python,
    )


def load_libraries(expected: Mapping[str, str], *, gpu: bool) -> Libraries:
    """Import what the stack pins and assert that it is what was pinned, from this environment.

    Parameters
    ----------
    expected
        Pinned version of each distribution.
    gpu
        Whether they can run; without a GPU they are looked up but not imported.

    Raises
    ------
    WrongVersionError
        If another version is installed, or the module comes from outside this environment.
    """
    versions: dict[str, str] = {}
    problems: dict[str, str] = {}
    for distribution, pinned in expected.items():
        installed = _version(distribution)
        if installed != pinned:
            msg = (
                f"the stack pins {distribution}=={pinned} but "
                f"{installed or 'none'} is installed in {sys.prefix}"
            )
            raise WrongVersionError(msg)
        versions[distribution] = installed
        if problem := _import_problem(distribution, pinned, import_it=gpu):
            problems[distribution] = problem
    has_torch = importlib.util.find_spec("torch") is not None
    return Libraries(versions, problems, has_torch, gpu)


def _import_problem(distribution: str, pinned: str, *, import_it: bool) -> str:
    module = _MODULES.get(distribution)
    if module is None:
        return ""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return f"{distribution} {pinned} has no module {module}"
    if not Path(spec.origin).is_relative_to(sys.prefix):
        msg = f"{module} would come from {spec.origin}, outside the stack's environment"
        raise WrongVersionError(msg)
    if not import_it:
        return ""
    try:
        loaded = importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - whatever a library does when it does not fit
        told = traceback.format_exception_only(error)[-1].splitlines()[0]
        return f"{distribution} {pinned} cannot be imported: {told}"
    says = getattr(loaded, "__version__", pinned)
    if says != pinned:
        msg = f"{spec.origin} says it is {says}, the stack pins {pinned}"
        raise WrongVersionError(msg)
    return ""


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _output(pattern: str, *command: str) -> str:
    """Return the first group of `pattern` in what the command prints, or nothing."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(pattern, done.stdout)
    return match[1] if match else ""
