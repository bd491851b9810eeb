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

__all__ = ["ADAPTERS", "Libraries", "Prepare", "Prepared", "Unsupported"]

ADAPTERS: Final[dict[str, Prepare]] = {
    name: adapter.prepare
    for adapter in (flashinfer_decode, flashinfer_prefill, fa3, flash_attn, sdpa, scripted)
    for name in adapter.NAMES
}
"""How to make each backend ready; complete against `workloads.backend.BACKENDS` by test."""
