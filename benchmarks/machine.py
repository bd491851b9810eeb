"""asv's entry for this machine, so that asv never stops to ask for one."""

import json
import os
from pathlib import Path

from asv.machine import Machine, MachineCollection

from benchmarks.errors import UserError
from benchmarks.measure.host import gpu_of_host, machine_name

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

    Raises
    ------
    UserError
        If the file is not as asv wrote it, or cannot be read or written.
    """
    file = path or Path(MachineCollection.get_machine_file_path())
    gpu, driver = gpu_of_host()
    name = os.environ.get("ATTN_MACHINE") or machine_name(gpu)
    Machine.hardcoded_machine_name = name
    try:
        known = _load(file) if file.exists() else {}
        if name not in known:
            facts = Machine.get_defaults() | {"machine": name, "gpu": gpu, "driver": driver}
            MachineCollection.save(name, facts, _path=str(file))
    except OSError as error:
        msg = f"cannot use asv's machine file {file}: {error}; set HOME to a folder of yours"
        raise UserError(msg) from error
    return name


def _load(file: Path) -> dict[str, object]:
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        msg = f"asv's machine file {file} is damaged ({error}): remove it, asv writes it again"
        raise UserError(msg) from error
    entries = known.items() if isinstance(known, dict) else ()
    sound = {k for k, v in entries if isinstance(v, int if k == "version" else dict)}
    if "version" not in sound or len(sound) < len(entries):
        msg = f"asv's machine file {file} holds no machines: remove it, asv writes it again"
        raise UserError(msg)
    return dict(entries)
