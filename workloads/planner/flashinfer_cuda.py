"""FlashInfer's CUDA-core decode planner.

Source: include/flashinfer/attention/scheduler.cuh, the same in releases 0.5.3 to 0.6.4
(BatchDecodeWithPagedKVCacheWorkEstimationDispatched,
PartitionPagedKVCacheBinarySearchMinNumPagePerBatch, DecodePlan), and decode.cuh for the launch.
"""

from typing import Final

from workloads.devices import Device
from workloads.planner.occupancy import known_occupancy
from workloads.planner.plan import Batch, Plan, Schedule
from workloads.planner.search import MERGE_KERNEL, minimum_pages, smallest_chunk

__all__ = ["known_occupancy", "plan_flashinfer_cuda"]

_KERNEL: Final = "flashinfer::BatchDecodeWithPagedKVCacheKernel"
_GROUPS: Final = (1, 2, 3, 4, 8)
"""DISPATCH_GQA_GROUP_SIZE in include/flashinfer/utils.cuh, releases 0.5.0 to 0.6.4."""


def plan_flashinfer_cuda(
    batch: Batch, device: Device, *, serving: bool = False, occupancy: int | None = None
) -> Plan:
    """Plan a decode batch on CUDA cores.

    A request is cut into the smallest chunks, of 128 tokens or a page at least, whose number
    times KV heads still fits on the SMs at once: `occupancy * SMs`. Where one chunk a request
    already fills them, nothing is split. In serving mode the grid has its full length and the
    kernel that merges runs, split or not, below that point.

    Parameters
    ----------
    batch
        Decode requests.
    serving
        Whether the wrapper was built with `use_cuda_graph=True`.
    occupancy
        CTAs that an SM holds at once; None to take what is known.

    Raises
    ------
    ValueError
        If there is no such kernel, or its occupancy is not known and not given.
    """
    shape = batch.shape
    cap = _occupancy(batch, device, occupancy) * device.sms
    pages = -(-batch.tokens() // shape.page_size)
    longest = int(pages.max())
    if len(batch.kv_lens) * shape.kv_heads >= cap:
        chunk, partition = longest, False
    else:
        chunk = smallest_chunk(pages, cap // shape.kv_heads, minimum_pages(shape.page_size))
        partition = serving or chunk < longest
    splits = tuple((-(-pages // chunk)).tolist())
    padded = cap // shape.kv_heads if serving and partition else sum(splits)
    return Plan(
        batch=batch,
        path="cuda",
        splits=splits,
        chunk_tokens=chunk * shape.page_size,
        block_tokens=None,
        q_tile=shape.group,
        packed=True,
        padded_batch=padded,
        heads=shape.kv_heads,
        grid=(padded, shape.kv_heads, 1),
        schedule=Schedule.GRID,
        heads_outermost=True,
        longest_first=False,
        kernel=_KERNEL,
        merge=MERGE_KERNEL if partition else None,
    )


def _occupancy(batch: Batch, device: Device, given: int | None) -> int:
    shape = batch.shape
    if batch.q_len != 1:
        msg = f"FlashInfer decodes 1 query token a request, not {batch.q_len}"
        raise ValueError(msg)
    if shape.group not in _GROUPS:
        groups = ", ".join(map(str, _GROUPS))
        msg = f"FlashInfer has no CUDA-core decode for head group {shape.group} (only {groups})"
        raise ValueError(msg)
    occupancy = known_occupancy(shape, device) if given is None else given
    if occupancy is None:
        msg = (
            f"how many CTAs of FlashInfer's decode kernel an SM of {device.name} holds is not known"
            f" for head dimension {shape.head_dim}, {shape.dtype} over {shape.kv_dtype} KV: "
            "give the occupancy"
        )
        raise ValueError(msg)
    if occupancy < 1:
        msg = f"an SM holds at least 1 CTA, not {occupancy}"
        raise ValueError(msg)
    return occupancy
