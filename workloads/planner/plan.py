"""What a planner decides about a batch, in one shape for all libraries."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np
import numpy.typing as npt

from workloads.shape import AttentionShape
from workloads.workload import Workload

__all__ = ["Batch", "Ints", "Items", "Plan", "Schedule"]

Ints = npt.NDArray[np.int64]
"""Whole numbers, one for each request or item."""


class Schedule(StrEnum):
    """How work items reach the SMs."""

    GRID = "grid"
    """A CTA for each item and head, started in order wherever an SM has room."""
    ASSIGNED = "assigned"
    """One CTA on each SM. The planner walked the items in order and gave each to the CTA that had
    the least cost by then."""
    QUEUE = "queue"
    """One CTA on each SM, which takes the next item in order when it is done with one."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What a planner is told: KV lengths and what all requests have in common.

    Attributes
    ----------
    kv_lens
        KV tokens of each request.
    shape
        Heads, head dimension, data types, page size.
    q_len
        Query tokens of each request, the last ones of its sequence.
    causal
        Whether a query token sees only KV tokens up to its own place.

    Raises
    ------
    ValueError
        If there is no request, or one with fewer KV tokens than query tokens or none.
    """

    kv_lens: tuple[int, ...]
    shape: AttentionShape
    q_len: int = 1
    causal: bool = False

    def __post_init__(self) -> None:
        if not self.kv_lens:
            msg = "a batch has at least 1 request"
            raise ValueError(msg)
        if self.q_len < 1:
            msg = f"a request has at least 1 query token, not {self.q_len}"
            raise ValueError(msg)
        if (shortest := min(self.kv_lens)) < self.q_len:
            msg = f"{self.q_len} query tokens but a request of {shortest} KV tokens"
            raise ValueError(msg)

    @classmethod
    def of(cls, workload: Workload) -> Self:
        """Return the batch of a workload."""
        lengths = workload.kv.lengths()
        return cls(lengths, workload.shape, workload.q_len, workload.causal)

    def tokens(self) -> Ints:
        """KV tokens of each request, shape (batch,)."""
        return np.asarray(self.kv_lens, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Items:
    """Work items of one head in the order in which they start.

    Each array has shape (items,). Padding is left out. An item may have no KV tokens: when a
    causal mask hides its whole chunk, or the last of FlashAttention's chunks is left empty.

    Attributes
    ----------
    request, q_tile
        Which query tile of which request, both from 0.
    kv_begin, kv_tokens
        Where the chunk begins, and how many KV tokens of it are read.
    """

    request: Ints
    q_tile: Ints
    kv_begin: Ints
    kv_tokens: Ints


@dataclass(frozen=True, slots=True)
class Plan:
    """How a library cuts a batch into work items.

    Attributes
    ----------
    batch
        What was planned.
    path
        What runs: `cuda`, `fa2`, `fa3` (FlashInfer), `flash-attn-3` or `flash-attn-2`.
    splits
        Chunks of each request, in the batch's order, as the library counts them.
    chunk_tokens
        KV tokens of one chunk as FlashInfer writes it into its plan, also where no request is
        longer; None where chunks differ between requests or nothing is ever split.
    block_tokens
        KV tokens of one step inside an item: FlashAttention cuts chunks at these; None where no
        chunk depends on it.
    q_tile
        Rows of a query tile: (query token, query head of the group) pairs where `packed`, else
        query tokens.
    packed
        Whether a query tile holds all query heads that share a KV head.
    padded_batch
        Length of FlashInfer's grid along its items, padding included; None for persistent kernels
        and FlashAttention.
    heads
        CTAs of each item: KV heads where `packed`, else query heads.
    grid
        Thread blocks of `kernel` along x, y and z.
    schedule
        How items reach the SMs.
    heads_outermost
        Whether all items of one head come before those of the next; else all heads of one
        request come before the next request.
    longest_first
        Whether requests are in the order of their longest chunk instead of the batch's.
    kernel
        What a profiler names: kernel of the attention itself, without template arguments.
    prepare, merge
        Kernel launched before it that plans on the GPU, and after it that merges the chunks'
        results; None where there is none.
    occupancy
        CTAs of `kernel` on an SM that the planner counted with; None where it asks for none.
    """

    batch: Batch
    path: str
    splits: tuple[int, ...]
    chunk_tokens: int | None
    block_tokens: int | None
    q_tile: int
    packed: bool
    padded_batch: int | None
    heads: int
    grid: tuple[int, int, int]
    schedule: Schedule
    heads_outermost: bool
    longest_first: bool
    kernel: str
    prepare: str | None = None
    merge: str | None = None
    occupancy: int | None = None

    @property
    def work_items(self) -> int:
        """Chunks of all requests together, for one query tile and one head."""
        return sum(self.splits)

    @property
    def max_splits(self) -> int:
        """Chunks of the request that is split most."""
        return max(self.splits)

    @property
    def splits_kv(self) -> bool:
        """Whether some request is split."""
        return self.max_splits > 1

    @property
    def merges(self) -> bool:
        """Whether a second kernel merges the chunks' results; it may run without any split."""
        return self.merge is not None

    @property
    def q_tiles(self) -> int:
        """Query tiles of each request, for one head."""
        return -(-self.batch.q_len * self.rows_per_token // self.q_tile)

    @property
    def rows_per_token(self) -> int:
        """Rows that one query token takes in a query tile."""
        return self.batch.shape.group if self.packed else 1

    @property
    def ctas(self) -> int:
        """Work items of all query tiles and heads: CTAs, or turns of persistent ones."""
        return self.work_items * self.q_tiles * self.heads

    def items(self) -> Items:
        """Return the work items of one head, in the order in which they start."""
        splits = np.asarray(self.splits, dtype=np.int64)
        request, tile, chunk = self._order(splits)
        visible = self._visible(request, tile)
        # FlashAttention-3 cuts what a tile sees, FlashAttention-2 the whole request.
        cut = visible if self.schedule is Schedule.QUEUE else self.batch.tokens()[request]
        size = self._chunk_sizes(splits[request], cut)
        begin = np.minimum(chunk * size, visible)
        return Items(request, tile, begin, np.minimum(size, visible - begin))

    def _order(self, splits: Ints) -> tuple[Ints, Ints, Ints]:
        """Return request, query tile and chunk of each item."""
        requests = np.arange(len(splits), dtype=np.int64)
        if self.longest_first:
            longest = self._chunk_sizes(splits, self.batch.tokens())
            requests = np.argsort(-longest, kind="stable")
        counts = splits[requests] * self.q_tiles
        request = np.repeat(requests, counts)
        place = np.arange(len(request)) - np.repeat(np.cumsum(counts) - counts, counts)
        if self.heads_outermost:
            tile, chunk = np.divmod(place, splits[request])
        else:
            chunk, tile = np.divmod(place, self.q_tiles)
        if self.longest_first and self.batch.causal:
            tile = self.q_tiles - 1 - tile
        return request, tile, chunk

    def _visible(self, request: Ints, tile: Ints) -> Ints:
        """KV tokens that some row of a query tile sees."""
        tokens = self.batch.tokens()[request]
        if not self.batch.causal:
            return tokens
        last = -(-(tile + 1) * self.q_tile // self.rows_per_token)
        visible: Ints = np.minimum(tokens, tokens - self.batch.q_len + last)
        return visible

    def _chunk_sizes(self, splits: Ints, tokens: Ints) -> Ints:
        """KV tokens of a full chunk where `tokens` are cut into `splits` chunks."""
        if self.chunk_tokens is not None:
            return np.full_like(tokens, self.chunk_tokens)
        if self.block_tokens is None:
            return tokens
        blocks = -(-tokens // self.block_tokens)
        return -(-blocks // splits) * self.block_tokens
