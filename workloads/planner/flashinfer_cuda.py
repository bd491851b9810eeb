"""FlashInfer's CUDA-core decode planner.

Source: include/flashinfer/attention/scheduler.cuh of releases 0.5.0 to 0.7.4
(BatchDecodeWithPagedKVCacheWorkEstimationDispatched,
PartitionPagedKVCacheBinarySearchMinNumPagePerBatch, DecodePlan), and decode.cuh for the launch.
"""

from typing import Final

from packaging.version import Version

from workloads.devices import Device
from workloads.planner.occupancy import known_occupancy
from workloads.planner.plan import Batch, Plan, Schedule
from workloads.planner.search import MERGE_KERNEL, minimum_pages, smallest_chunk

__all__ = ["known_occupancy", "plan_flashinfer_cuda"]

_KERNEL: Final = "flashinfer::BatchDecodeWithPagedKVCacheKernel"
_GROUPS: Final = {
    **dict.fromkeys((1, 2, 3, 4, 8), Version("0.5.0")),
    6: Version("0.6.18"),
    16: Version("0.7.1"),
}
"""Since when there is a kernel for a group: DISPATCH_GQA_GROUP_SIZE in
include/flashinfer/utils.cuh, releases 0.5.0 to 0.7.4."""


def plan_flashinfer_cuda(
    batch: Batch,
    device: Device,
    *,
    serving: bool = False,
    occupancy: int | None = None,
    release: Version | None = None,
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
    release
        FlashInfer's release, None for the newest: the kernel's registers differ.

    Raises
    ------
    ValueError
        If there is no such kernel, or its occupancy is not known and not given.
    """
    shape = batch.shape
    _check(batch, release)
    ctas = _occupancy(batch, device, release, occupancy)
    cap = ctas * device.sms
    pages = -(-batch.tokens() // shape.page_size)
    fills = len(batch.kv_lens) * shape.kv_heads >= cap
    least = minimum_pages(shape.page_size)
    chunk = int(pages.max()) if fills else smallest_chunk(pages, cap // shape.kv_heads, least)
    partition = not fills and (serving or chunk < int(pages.max()))
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
        occupancy=ctas,
    )


def _check(batch: Batch, release: Version | None) -> None:
    if batch.q_len != 1:
        msg = f"FlashInfer decodes 1 query token a request, not {batch.q_len}"
        raise ValueError(msg)
    groups = [g for g, since in sorted(_GROUPS.items()) if release is None or release >= since]
    group = batch.shape.group
    if group not in groups:
        named = ", ".join(map(str, groups))
        msg = f"FlashInfer has no CUDA-core decode for head group {group} (only {named})"
        raise ValueError(msg)


def _occupancy(batch: Batch, device: Device, release: Version | None, given: int | None) -> int:
    if given is not None and given < 1:
        msg = f"an SM holds at least 1 CTA, not {given}"
        raise ValueError(msg)
    if given is not None:
        return given
    shape = batch.shape
    known = known_occupancy(shape, device, release)
    if known is None:
        msg = (
            f"how many CTAs of FlashInfer's decode kernel an SM of {device.name} holds is not known"
            f" for head dimension {shape.head_dim}, group {shape.group}, {shape.dtype} over "
            f"{shape.kv_dtype} KV: give the occupancy"
        )
        raise ValueError(msg)
    return known
