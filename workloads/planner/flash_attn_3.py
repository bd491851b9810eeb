"""FlashAttention-3's scheduler on Hopper: a static cap, then splits for each request.

Source: hopper/ of Dao-AILab/flash-attention: flash_api.cpp (get_num_splits, get_pack_gqa,
mha_fwd_get_scheduler_metadata), heuristics.h, tile_size.h, flash_prepare_scheduler.cu,
flash_fwd_launch_template.h. Rule set `sorted` is that of flash_prepare_scheduler.cu since it sorts
requests; the kernels in fa3-fwd 0.0.1 to 0.0.3 have its signature. Rule set `unsorted` is
that of commit fa60e7cc97300b4b26721983df580a7da7a8ebea.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from workloads.devices import Device
from workloads.planner.fa3_tiles import Tile, fa3_tile
from workloads.planner.plan import Batch, Plan, Schedule
from workloads.planner.waves import MAX_SPLITS, fills_sms, most_even_splits
from workloads.shape import DType

__all__ = ["DYNAMIC_SPLIT_LIMIT", "Fa3Call", "Fa3Rules", "plan_flash_attn_3"]

DYNAMIC_SPLIT_LIMIT: Final = 992
"""Requests that one CTA of the preparing kernel covers: 32 warps, 31 requests each."""
_KERNEL: Final = "cutlass::device_kernel"
"""Of `flash::FlashAttnFwdSm90`, which its template arguments name; merging is one, too."""
_PREPARE: Final = "flash::prepare_varlen_num_blocks_kernel"
_NO_SPLIT_BLOCKS: Final = 4
_MOST_SPLITS: Final = 256
_PACK_BELOW: Final = 0.9
_L2_BYTES: Final = 50 * 1024 * 1024
_MARGIN: Final = np.float32(1.1)


class Fa3Rules(StrEnum):
    """Which scheduler is meant."""

    SORTED = "sorted"
    """Longest chunks first; more than 992 requests are never split."""
    UNSORTED = "unsorted"
    """In the batch's order; more than 992 requests all get the static cap."""


@dataclass(frozen=True, slots=True)
class Fa3Call:
    """What the caller of FlashAttention-3 asks for.

    Attributes
    ----------
    num_splits
        Upper bound on a request's splits; 0 leaves it to the heuristic.
    pack
        Whether a query tile holds all query heads that share a KV head; None leaves it to FA3.
    varlen_q
        Whether query lengths are given per request (`flash_attn_varlen_func`).
    ahead
        Whether the scheduler's metadata was computed before, so that no kernel prepares it.

    Raises
    ------
    ValueError
        If the number of splits is not between 0 and 256.
    """

    num_splits: int = 0
    pack: bool | None = None
    varlen_q: bool = True
    ahead: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.num_splits <= _MOST_SPLITS:
            msg = f"FlashAttention-3 takes 0 to {_MOST_SPLITS} splits, not {self.num_splits}"
            raise ValueError(msg)


def plan_flash_attn_3(
    batch: Batch, device: Device, call: Fa3Call | None = None, rules: Fa3Rules = Fa3Rules.SORTED
) -> Plan:
    """Plan a batch with KV lengths of its own for each request, in contiguous memory.

    The heuristic finds the most splits that one long request alone would want. Then the preparing
    kernel gives each request as many as its KV blocks are multiples of an even share of all
    blocks (plus 10 %), up to that. A bound above 1 has the merging kernel run, split or not.

    Raises
    ------
    ValueError
        If the device is no Hopper GPU or there is no kernel for the data types.
    """
    call = Fa3Call() if call is None else call
    bound = _bound(batch, device, call.num_splits, rules)
    # The kernel that is compiled for splits packs, whatever was asked for
    # (flash_fwd_launch_template.h).
    packed = bound > 1 or _packs(batch, call)
    tile = _tile(batch)
    return Plan(
        batch=batch,
        path="flash-attn-3",
        splits=_splits(batch, device, bound, rules, packed=packed),
        chunk_tokens=None,
        block_tokens=tile.kv,
        q_tile=tile.q,
        packed=packed,
        padded_batch=None,
        heads=batch.shape.kv_heads if packed else batch.shape.q_heads,
        grid=(device.sms, 1, 1),
        schedule=Schedule.QUEUE,
        heads_outermost=False,
        longest_first=rules is Fa3Rules.SORTED,
        kernel=_KERNEL,
        prepare=None if call.ahead else _PREPARE,
        merge=_KERNEL if bound > 1 else None,
    )


def _packs(batch: Batch, call: Fa3Call) -> bool:
    """Return whether query heads are packed when nothing is split (get_pack_gqa).

    Unless told: when query lengths are given per request, or when a tile of one head's query
    tokens would be filled less than 0.9 times as well.
    """
    group, q_len = batch.shape.group, batch.q_len
    if call.pack is not None:
        return call.pack
    if group == 1:
        return False
    tile, rows = _tile(batch).q, q_len * group
    unpacked = q_len / (-(-q_len // tile) * tile)
    return call.varlen_q or unpacked < _PACK_BELOW * rows / (-(-rows // tile) * tile)


def _tile(batch: Batch) -> Tile:
    shape = batch.shape
    if shape.dtype is not shape.kv_dtype or shape.dtype is DType.FP32:
        msg = (
            "FlashAttention-3 wants query and KV of one type of at most 16 bits;"
            f" {shape.dtype} over {shape.kv_dtype} KV is not"
        )
        raise ValueError(msg)
    return fa3_tile(shape.head_dim, shape.dtype, causal=_masked(batch))


def _masked(batch: Batch) -> bool:
    """Return whether a mask is applied: one query token sees everything, causal or not."""
    return batch.causal and batch.q_len > 1


def _bound(batch: Batch, device: Device, num_splits: int, rules: Fa3Rules) -> int:
    """Return the most splits that a request may get."""
    if not device.hopper:
        msg = f"FlashAttention-3 is modelled for Hopper only, not for {device.name}"
        raise ValueError(msg)
    if num_splits:
        return num_splits
    tile, shape, longest = _tile(batch), batch.shape, max(batch.kv_lens)
    m_blocks = -(-batch.q_len * shape.group // tile.q)
    # Requests are split one by one later, so the bound is that of one long request alone.
    alone = rules is Fa3Rules.SORTED or len(batch.kv_lens) <= DYNAMIC_SPLIT_LIMIT
    tiles = (1 if alone else len(batch.kv_lens)) * shape.kv_heads * m_blocks
    if fills_sms(tiles, device.sms):
        # KV of one head beyond the L2 cache is split if enough query tiles read it.
        head_bytes = longest * 2 * shape.head_dim * shape.dtype.size_bytes
        reread = m_blocks >= 2 * device.sms and not _masked(batch)
        return min(-(-head_bytes // _L2_BYTES), MAX_SPLITS) if reread else 1
    blocks = -(-longest // tile.kv)
    if blocks <= _NO_SPLIT_BLOCKS:
        return 1
    return most_even_splits(tiles, device.sms, blocks, skip_equal=False)


def _splits(
    batch: Batch, device: Device, bound: int, rules: Fa3Rules, *, packed: bool
) -> tuple[int, ...]:
    """Return the splits of each request (prepare_varlen_num_blocks_kernel)."""
    requests, shape, tile = len(batch.kv_lens), batch.shape, _tile(batch)
    if requests > DYNAMIC_SPLIT_LIMIT:
        return (1 if rules is Fa3Rules.SORTED else bound,) * requests
    if bound == 1:
        return (1,) * requests
    heads, group = (shape.kv_heads, shape.group) if packed else (shape.q_heads, 1)
    m_blocks = -(-batch.q_len * group // tile.q)
    n_blocks = -(-batch.tokens() // tile.kv)
    total = np.float32(m_blocks * int(n_blocks.sum()))
    # In single precision and in this order, as the kernel does.
    blocks_per_sm = int(np.ceil(total * _MARGIN * np.float32(heads) / np.float32(device.sms)))
    return tuple(np.clip(-(-n_blocks // blocks_per_sm), 1, bound).tolist())
