"""asv class of the GQA family; see `workloads.catalog` for what it asks."""

from benchmarks._suite import _Family

__all__ = ["GqaThroughput"]


class GqaThroughput(_Family, family="gqa-throughput"):
    """Decode throughput over batch size, pack_gqa and num_splits."""
