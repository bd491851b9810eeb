"""asv's entry for this machine, so that asv never stops to ask for one."""

import json
import os
import subprocess
from pathlib import Path

from asv.machine import Machine, MachineCollection

from benchmarks.measure.host import machine_name

__all__ = ["ensure_machine"]


def ensure_machine(path: Path | None = None) -> str:
    """Add this machine to asv's machine file if it is missing; nothing there is changed.

    The name is ATTN_MACHINE, or that of the GPU model (`h200`), or `cpu`; asv uses it from now on.

    Parameters
    ----------
    path
        The machine file; the one in the home directory if None.

    Returns
    -------
    str
        The machine's name.
    """
    file = path or Path(MachineCollection.get_machine_file_path())
    gpu, driver = _gpu()
    name = os.environ.get("ATTN_MACHINE") or machine_name(gpu)
    Machine.hardcoded_machine_name = name
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if name not in known:
        facts = Machine.get_defaults() | {"machine": name, "gpu": gpu, "driver": driver}
        MachineCollection.save(name, facts, _path=str(file))
    return name


def _gpu() -> tuple[str, str]:
    """Model and driver version as the driver gives them; empty without a GPU."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "", ""
    first = done.stdout.splitlines()[:1] if done.returncode == 0 else []
    name, _, driver = "".join(first).partition(", ")
    return name, driver
