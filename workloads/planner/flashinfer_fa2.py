"""FlashInfer's fa2 planner: tensor-core decode and prefill.

Source: include/flashinfer/attention/scheduler.cuh of releases 0.5.0 to 0.7.4 (PrefillPlan,
PrefillSplitQOKVIndptr, PrefillBinarySearchKVChunkSize); FA2DetermineCtaTileQ in utils.cuh;
prefill.cuh for the launch. Decode with `use_tensor_cores=True` plans and runs as prefill with one
query token a request (flashinfer/decode.py).
"""

from typing import Final

from packaging.version import Version

from workloads.devices import Device
from workloads.planner.plan import Batch, Plan, Schedule
from workloads.planner.search import MERGE_KERNEL, minimum_pages, smallest_chunk

__all__ = ["fa2_budget", "knows_query_length", "plan_flashinfer_fa2"]

_KERNEL: Final = "flashinfer::BatchPrefillWithPagedKVCacheKernel"
_CTAS_PER_SM: Final = 2
_WIDE_HEAD: Final = 256
_AMPERE: Final = 8
_KNOWS_QUERY_LENGTH_SINCE: Final = Version("0.7.4")


def fa2_budget(kv_heads: int, device: Device) -> int:
    """Return the work items a KV head may have: two CTAs on each SM, over all KV heads.

    From so many decode requests on nothing is split (with a group of at most 16).
    """
    return _CTAS_PER_SM * device.sms // kv_heads


def knows_query_length(wrapper: str, release: Version | None) -> bool:
    """Return whether a wrapper tells the planner that all requests have one query length.

    `decode` does since 0.7.4 (`uniform_q_len` and `fixed_uniform_q_len` in flashinfer/decode.py);
    releases from 0.6.17 on only for more query tokens than one. None is the newest release.
    """
    since = release is None or release >= _KNOWS_QUERY_LENGTH_SINCE
    return wrapper == "decode" and since


def plan_flashinfer_fa2(
    batch: Batch, device: Device, *, serving: bool = False, uniform: bool = False
) -> Plan:
    """Plan a batch on tensor cores.

    Work items are pairs of a query tile and a KV chunk. Chunks are the smallest, of 128 tokens
    or a page at least, whose items fit into the budget; so the split weakens as requests become
    more, and ends where their query tiles alone fill it. In serving mode the grid has the length
    of the budget or of the most query tiles there may be, and the kernel that merges always runs,
    unless it is known that query tiles alone exceed the budget.

    Parameters
    ----------
    batch
        Requests; decode has one query token in each.
    serving
        Whether the wrapper was built with `use_cuda_graph=True`.
    uniform
        Whether the planner knows that all requests have one query length in every plan of a CUDA
        graph, see `knows_query_length`; else it makes room for one that gets what others leave.
    """
    shape, requests = batch.shape, len(batch.kv_lens)
    budget = fa2_budget(shape.kv_heads, device)
    rows = batch.q_len * shape.group
    ragged = serving and not uniform
    # One request may get every query token that the others leave over.
    longest_rows = (requests * (batch.q_len - 1) + 1) * shape.group if ragged else rows
    tile = _q_tile(longest_rows, shape.head_dim, device)
    tiles = -(-rows // tile)
    pages = -(-batch.tokens() // shape.page_size)
    chunk = smallest_chunk(pages, budget // tiles, minimum_pages(shape.page_size))
    splits = tuple((-(-pages // chunk)).tolist())
    padded = sum(splits) * tiles
    most_tiles = -(-requests * rows // tile) + requests - 1 if ragged else requests * tiles
    if serving:
        padded = max(budget, most_tiles)
    never_splits = uniform and most_tiles > budget
    return Plan(
        batch=batch,
        path="fa2",
        splits=splits,
        chunk_tokens=chunk * shape.page_size,
        block_tokens=None,
        q_tile=tile,
        packed=True,
        padded_batch=padded,
        heads=shape.kv_heads,
        grid=(padded, 1, shape.kv_heads),
        schedule=Schedule.GRID,
        heads_outermost=True,
        longest_first=False,
        kernel=_KERNEL,
        merge=MERGE_KERNEL if (serving and not never_splits) or max(splits) > 1 else None,
    )


def _q_tile(rows: int, head_dim: int, device: Device) -> int:
    """Rows of a query tile for requests of so many rows (query tokens times group)."""
    if rows > 64 and head_dim < _WIDE_HEAD:  # noqa: PLR2004 - the tile below
        return 128
    if rows > 16 or device.capability[0] < _AMPERE:  # noqa: PLR2004 - the tile below
        return 64
    return 16
