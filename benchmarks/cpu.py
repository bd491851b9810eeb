"""asv class of the CPU default; see `workloads.catalog` for what it asks."""

from benchmarks._suite import _Family

__all__ = ["Cpu"]


class Cpu(_Family, family="cpu"):
    """Work small enough for a host without a GPU."""
