"""FlashAttention-2's split count, one for the whole batch: `flash_attn_with_kvcache`, paged.

Source: csrc/flash_attn/flash_api.cpp (mha_fwd_kvcache, set_params_splitkv, num_splits_heuristic)
and src/flash_fwd_kernel.h of Dao-AILab/flash-attention as of 2.8. Early releases counted one CTA
on each SM where this counts two; they are not modelled. No recorded round has run it.
"""

from typing import Final

from workloads.devices import Device
from workloads.planner.plan import Batch, Plan, Schedule
from workloads.planner.waves import fills_sms, most_even_splits
from workloads.shape import DType

__all__ = ["plan_flash_attn_2"]

_KERNEL: Final = "flash::flash_fwd_splitkv_kernel"
_COMBINE: Final = "flash::flash_fwd_splitkv_combine_kernel"
_CTAS_PER_SM: Final = 2
_Q_TILE: Final = 64
_PAGE_MULTIPLE: Final = 256


def plan_flash_attn_2(batch: Batch, device: Device) -> Plan:
    """Plan a paged batch on FlashAttention-2.

    Every request gets the same number of splits, chosen for the longest one and all requests'
    query tiles; short requests leave some of theirs empty. With one query token, the query heads
    of a group become rows of one tile; else each query head reads its KV on its own.

    Raises
    ------
    ValueError
        If the data types or the page size are none it takes.
    """
    shape, requests = batch.shape, len(batch.kv_lens)
    _check(batch, device)
    packed = batch.q_len == 1 and shape.group > 1
    heads, rows = (shape.kv_heads, shape.group) if packed else (shape.q_heads, batch.q_len)
    tiles = -(-rows // _Q_TILE)
    block = _block_tokens(shape.head_dim)
    # The kernel is told the length of the page table, not that of the longest request.
    longest = -(-max(batch.kv_lens) // shape.page_size) * shape.page_size
    slots, work = device.sms * _CTAS_PER_SM, requests * heads * tiles
    splits = 1
    if not fills_sms(work, slots):
        splits = most_even_splits(work, slots, -(-longest // block), skip_equal=True)
    grid = (tiles, splits, requests * heads) if splits > 1 else (tiles, requests, heads)
    return Plan(
        batch=batch,
        path="flash-attn-2",
        splits=(splits,) * requests,
        chunk_tokens=None,
        block_tokens=block,
        q_tile=_Q_TILE,
        packed=packed,
        padded_batch=None,
        heads=heads,
        grid=grid,
        schedule=Schedule.GRID,
        heads_outermost=splits == 1,
        longest_first=False,
        kernel=_KERNEL,
        merge=_COMBINE if splits > 1 else None,
    )


def _block_tokens(head_dim: int) -> int:
    if head_dim <= 64:  # noqa: PLR2004 - the source's rule
        return 256
    return 128 if head_dim <= 128 else 64  # noqa: PLR2004 - the source's rule


def _check(batch: Batch, device: Device) -> None:
    shape = batch.shape
    if shape.dtype is not DType.BF16 or shape.kv_dtype is not DType.BF16:
        msg = f"FlashAttention-2 has no kernel for {shape.dtype} over {shape.kv_dtype} KV"
        raise ValueError(msg)
    if shape.page_size % _PAGE_MULTIPLE:
        msg = (
            f"FlashAttention-2 takes pages of a multiple of {_PAGE_MULTIPLE}, not {shape.page_size}"
        )
        raise ValueError(msg)
    if device.capability < (8, 0):
        msg = f"FlashAttention-2 needs compute capability 8.0 or more, which {device.name} is below"
        raise ValueError(msg)
