"""What FlashInfer's two SplitKV planners share: the search for the smallest chunk that fits.

Source: include/flashinfer/attention/scheduler.cuh, the same in releases 0.5.0 to 0.7.4
(PartitionPagedKVCacheBinarySearchMinNumPagePerBatch, PrefillBinarySearchKVChunkSize).
"""

from typing import Final

from workloads.planner.plan import Ints

__all__ = ["MERGE_KERNEL", "minimum_pages", "smallest_chunk"]

MERGE_KERNEL: Final = "flashinfer::PersistentVariableLengthMergeStatesKernel"
_MINIMUM_TOKENS: Final = 128


def minimum_pages(page_size: int) -> int:
    """Return the pages of the shortest chunk: 128 tokens, rounded down, and 1 page at least."""
    return max(_MINIMUM_TOKENS // page_size, 1)


def smallest_chunk(pages: Ints, budget: int, minimum: int) -> int:
    """Return the smallest chunk, in pages, that cuts requests into at most `budget` chunks.

    Parameters
    ----------
    pages
        Pages of each request, shape (batch,), each at least 1.
    budget
        Chunks of all requests together. Where even one a request is too many, the longest
        request's pages are returned.
    minimum
        Pages of the shortest chunk, returned even if no request is that long.
    """
    low, high = minimum, int(pages.max())
    if len(pages) >= budget:
        # Chunks that all hold a whole request are the only candidate left.
        return max(low, high)
    while low < high:
        middle = (low + high) // 2
        if int((-(-pages // middle)).sum()) > budget:
            low = middle + 1
        else:
            high = middle
    return low
