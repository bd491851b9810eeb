"""Policies of inference engines: a rule that picks a backend for a workload.

Each is judged like a backend: its regret is the time of what it picks over the best.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from workloads.shape import DType
from workloads.workload import Phase, Workload

__all__ = ["POLICIES", "Policy"]

_TENSOR_CORE_GROUP: Final = 4


@dataclass(frozen=True, slots=True)
class Policy:
    """A rule that picks a backend.

    Attributes
    ----------
    name
        Identity in reports.
    source
        Where the rule is written down.
    choose
        The backend's name for a workload, or None where the rule does not speak.
    """

    name: str
    source: str
    choose: Callable[[Workload], str | None]


def _sglang_tensor_cores(workload: Workload) -> str | None:
    """FP8 KV: tensor cores; BF16 KV and a group of at least 4: tensor cores; else CUDA cores."""
    if workload.phase is not Phase.DECODE:
        return None
    kv_dtype, group = workload.shape.kv_dtype, workload.shape.group
    if kv_dtype is DType.FP8 or (kv_dtype is DType.BF16 and group >= _TENSOR_CORE_GROUP):
        return "flashinfer-decode-tc-auto"
    return "flashinfer-decode-cuda"


def _sglang_fa2(workload: Workload) -> str | None:
    """Follow the same rule with FlashInfer's backend pinned to fa2."""
    if workload.phase is Phase.PREFILL:
        return "flashinfer-prefill-fa2"
    chosen = _sglang_tensor_cores(workload)
    return "flashinfer-decode-tc-fa2" if chosen == "flashinfer-decode-tc-auto" else chosen


def _sglang_fa3(workload: Workload) -> str | None:
    """FlashAttention-3 for attention with a BF16 KV cache on Hopper."""
    return "fa3-varlen" if workload.shape.kv_dtype is DType.BF16 else None


POLICIES: Final[tuple[Policy, ...]] = (
    Policy(
        "sglang-tensor-cores",
        "SGLang, should_use_tensor_core in its FlashInfer backend",
        _sglang_tensor_cores,
    ),
    Policy("sglang-fa2-pin", "SGLang pull request 18364", _sglang_fa2),
    Policy("sglang-hopper-fa3", "SGLang pull request 17425", _sglang_fa3),
)
