"""Attention shapes: head counts, head dimension, data types and page size."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["AttentionShape", "DType"]


class DType(StrEnum):
    """Element types a query or KV cache may have; the value is the word used in slugs."""

    BF16 = "bf16"
    FP8 = "fp8"
    """OCP float8 e4m3 (`torch.float8_e4m3fn`)."""
    FP32 = "fp32"

    @property
    def size_bytes(self) -> int:
        """Bytes of one element."""
        return {DType.BF16: 2, DType.FP8: 1, DType.FP32: 4}[self]


@dataclass(frozen=True, slots=True)
class AttentionShape:
    """The part of a workload that a model fixes.

    Attributes
    ----------
    q_heads, kv_heads
        Query and KV heads left on one GPU (after tensor parallelism).
    head_dim
        Elements of one head, the same for K and V.
    dtype
        Type of query and output.
    kv_dtype
        Type of the KV cache.
    page_size
        Tokens of one KV page; backends on contiguous KV ignore it.

    Raises
    ------
    ValueError
        If a count is below 1 or the query heads are no multiple of the KV heads.
    """

    q_heads: int
    kv_heads: int
    head_dim: int = 128
    dtype: DType = DType.BF16
    kv_dtype: DType = DType.BF16
    page_size: int = 16

    def __post_init__(self) -> None:
        for name in ("q_heads", "kv_heads", "head_dim", "page_size"):
            if getattr(self, name) < 1:
                msg = f"{name} must be at least 1, not {getattr(self, name)}"
                raise ValueError(msg)
        if self.q_heads % self.kv_heads:
            msg = f"{self.q_heads} query heads are no multiple of {self.kv_heads} KV heads"
            raise ValueError(msg)

    @property
    def group(self) -> int:
        """Query heads that share one KV head (1 is multi-head attention)."""
        return self.q_heads // self.kv_heads

    @property
    def kv_token_bytes(self) -> int:
        """Bytes of K and V of one token over all KV heads."""
        return 2 * self.kv_heads * self.head_dim * self.kv_dtype.size_bytes
