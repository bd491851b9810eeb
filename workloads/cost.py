"""Least work of a workload: the floor under any implementation's time."""

from dataclasses import dataclass

from workloads.workload import Workload

__all__ = ["Cost", "cost"]


@dataclass(frozen=True, slots=True)
class Cost:
    """Operations and bytes that no implementation can avoid.

    Attributes
    ----------
    flops
        Multiply and add operations of Q·K and P·V, counting 2 for each pair.
    bytes
        K and V read once, query read once, output written once.
    """

    flops: int
    bytes: int

    @property
    def intensity(self) -> float:
        """Operations a byte; above a card's ridge point the work is compute-bound."""
        return self.flops / self.bytes


def cost(workload: Workload) -> Cost:
    """Return the least work of one attention call.

    A causal query token at place j of q sees `kv - q + j + 1` tokens, so a request has
    `q * kv - q * (q - 1) / 2` query-key pairs; each costs 4 · head_dim operations a head
    (FlashAttention, Dao et al. 2022, section 3.1).
    """
    shape, q_len = workload.shape, workload.q_len
    lengths = workload.kv.lengths()
    pairs = q_len * sum(lengths)
    if workload.causal:
        pairs -= len(lengths) * q_len * (q_len - 1) // 2
    query = len(lengths) * q_len * shape.q_heads * shape.head_dim * shape.dtype.size_bytes
    return Cost(
        flops=4 * pairs * shape.q_heads * shape.head_dim,
        bytes=sum(lengths) * shape.kv_token_bytes + 2 * query,
    )
