"""FlashInfer's fa3 planner, for Hopper: no KV is ever split.

Source: include/flashinfer/attention/scheduler.cuh, the same in releases 0.5.0 to 0.7.4
(PrefillSM90Plan); hopper/prefill_sm90.cuh for the launch.
"""

from typing import Final

from packaging.version import Version

from workloads.devices import Device
from workloads.planner.plan import Batch, Plan, Schedule

__all__ = ["plan_flashinfer_fa3"]

_KERNEL: Final = "flashinfer::PrefillWithKVCacheKernel"
_PAGES_TO_TOKENS: Final = "flashinfer::BlockSparseIndicesToVectorSparseOffsetsKernel"
_READS_PAGES_SINCE: Final = Version("0.6.0")
_SHARED_SCHEDULE_FROM: Final = 4096


def plan_flashinfer_fa3(batch: Batch, device: Device, release: Version | None = None) -> Plan:
    """Plan decode or prefill on fa3; serving mode only pads index arrays, not the grid.

    A query tile has 128 query tokens (192 for head dimension 64) of one *query* head: heads that
    share KV are not packed, so each reads it again. Requests go longest first to the CTA with the
    least cost so far, 2 * tile + KV tokens of each item; there is one CTA on each SM.

    Parameters
    ----------
    batch
        Requests.
    release
        FlashInfer's release: before 0.6.0 every launch first turned the page table into one of
        tokens (flashinfer/prefill.py). None is the newest.

    Raises
    ------
    ValueError
        If the device is no Hopper GPU.
    """
    if not device.hopper:
        msg = f"FlashInfer's fa3 runs on Hopper only, not on {device.name}"
        raise ValueError(msg)
    shape, requests = batch.shape, len(batch.kv_lens)
    tile = 192 if shape.head_dim == 64 else 128  # noqa: PLR2004 - the source's rule
    works = -(-requests * batch.q_len // tile) + requests - 1
    # Beyond that the schedule is made for one head, and the grid has one row for each.
    rows = shape.q_heads if works > _SHARED_SCHEDULE_FROM else 1
    old = release is not None and release < _READS_PAGES_SINCE
    return Plan(
        batch=batch,
        path="fa3",
        splits=(1,) * requests,
        chunk_tokens=None,
        block_tokens=None,
        q_tile=tile,
        packed=False,
        padded_batch=None,
        heads=shape.q_heads,
        grid=(device.sms, rows, 1),
        schedule=Schedule.ASSIGNED,
        heads_outermost=True,
        longest_first=True,
        kernel=_KERNEL,
        prepare=_PAGES_TO_TOKENS if old and shape.page_size > 1 else None,
    )
