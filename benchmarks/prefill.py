"""asv class of the prefill family; see `workloads.catalog` for what it asks."""

from benchmarks._suite import _Family

__all__ = ["PrefillPaths"]


class PrefillPaths(_Family, family="prefill-paths"):
    """Long, many short, chunked and short-query prefill."""
