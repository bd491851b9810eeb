"""What a user types to get a backend."""

from typing import Final

__all__ = ["advice"]

_WRAPPER: Final = "build {}Wrapper with {}"
_DECODE: Final = "BatchDecodeWithPagedKVCache"
_PREFILL: Final = "BatchPrefillWithPagedKVCache"

_ADVICE: Final = {
    "flashinfer-decode-cuda": _WRAPPER.format(_DECODE, "use_tensor_cores=False"),
    "flashinfer-decode-tc-fa2": _WRAPPER.format(_DECODE, 'use_tensor_cores=True, backend="fa2"'),
    "flashinfer-decode-tc-fa3": _WRAPPER.format(_DECODE, 'use_tensor_cores=True, backend="fa3"'),
    "flashinfer-prefill-fa2": _WRAPPER.format(_PREFILL, 'backend="fa2"'),
    "flashinfer-prefill-fa3": _WRAPPER.format(_PREFILL, 'backend="fa3"'),
}


def advice(backend: str) -> str:
    """Return how to get a backend by name, the same in serving mode."""
    return _ADVICE.get(backend.removesuffix("-serving"), f"use {backend}")
