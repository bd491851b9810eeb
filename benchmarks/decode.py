"""asv classes of the decode families; see `workloads.catalog` for what each one asks."""

from benchmarks._suite import _Family

__all__ = ["DecodeSweep", "Fp8Kv", "Linearity", "LlamaDecode", "TpShards"]


class DecodeSweep(_Family, family="decode-sweep"):
    """Batches of rising size and skew: where planners stop splitting KV."""


class Linearity(_Family, family="linearity"):
    """Balanced batches of rising total tokens."""


class LlamaDecode(_Family, family="llama-decode"):
    """Uniform decode with Llama-3-8B heads."""


class TpShards(_Family, family="tp-shards"):
    """One or two KV heads left on a GPU."""


class Fp8Kv(_Family, family="fp8-kv"):
    """FP8 KV cache under a BF16 query."""
