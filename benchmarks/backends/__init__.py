"""Adapters, one a file, and the table that names them."""

from typing import Final

from benchmarks.backends import (
    fa3,
    flash_attn,
    flashinfer_decode,
    flashinfer_prefill,
    scripted,
    sdpa,
)
from benchmarks.backends.adapter import Libraries, Prepare, Prepared, Unsupported
from benchmarks.measure.inputs import Inputs
from workloads.rehearsal import rehearsing

__all__ = ["ADAPTERS", "Libraries", "Prepare", "Prepared", "Unsupported", "prepare"]

ADAPTERS: Final[dict[str, Prepare]] = {
    name: adapter.prepare
    for adapter in (flashinfer_decode, flashinfer_prefill, fa3, flash_attn, sdpa, scripted)
    for name in adapter.NAMES
}
"""How to make each backend ready; complete against `workloads.backend.BACKENDS` by test."""


def prepare(name: str, inputs: Inputs, libraries: Libraries) -> Prepared:
    """Make a workload ready on a backend, or on what stands for it in a rehearsal.

    Raises
    ------
    Unsupported
        If it cannot run here; the text says why.
    """
    adapter = scripted.prepare if rehearsing() else ADAPTERS[name]
    return adapter(name, inputs, libraries)
