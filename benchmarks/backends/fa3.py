"""FlashAttention-3 through `fa3-fwd`: contiguous KV, variable lengths or a padded cache.

`fa3-varlen` lets FA3 choose the number of splits (`num_splits=0`, an engine's choice for decode);
the library's own default for this function is 1, which `fa3-varlen-splits-1` is. The
`-metadata` backends compute the scheduler's metadata once, outside of the timed launch.
"""

from collections.abc import Callable
from typing import Any, Final

from benchmarks.backends.adapter import Libraries, Prepared, Unsupported
from benchmarks.backends.device_code import extension_hash
from benchmarks.measure.inputs import Inputs, torch_dtype
from workloads.backend import PACKS, SPLITS, kvcache_name
from workloads.record import Facts
from workloads.shape import DType

__all__ = ["NAMES", "prepare"]

NAMES: Final = (
    "fa3-varlen",
    "fa3-varlen-splits-1",
    "fa3-varlen-metadata",
    "fa3-kvcache-metadata",
    *(kvcache_name(pack, splits) for pack in PACKS for splits in SPLITS),
)
_PACK: Final = {"auto": None, "true": True, "false": False}


def prepare(name: str, inputs: Inputs, libraries: Libraries) -> Prepared:
    """Make FA3 ready in the way that `name` says.

    Raises
    ------
    Unsupported
        If FA3 cannot run here, the data types are not BF16, or a padded cache would be needed.
    """
    libraries.require("fa3-fwd")
    shape = inputs.workload.shape
    if shape.dtype is not DType.BF16 or shape.kv_dtype is not DType.BF16:
        msg = f"FA3 wants query and KV of one type; {shape.dtype} over {shape.kv_dtype} KV is not"
        raise Unsupported(msg)
    if name.startswith("fa3-varlen"):
        return _varlen(inputs, splits=int(name.endswith("splits-1")), ahead="metadata" in name)
    if len(set(inputs.kv_lens)) != 1:
        msg = "FA3's KV cache is padded to the longest request; uneven batches run as fa3-varlen"
        raise Unsupported(msg)
    if name == "fa3-kvcache-metadata":
        return _kvcache(inputs, splits=0, pack=None, ahead=True)
    pack, splits = name.removeprefix("fa3-kvcache-pack-").split("-splits-")
    splits_value = 0 if splits == "auto" else int(splits)
    return _kvcache(inputs, splits=splits_value, pack=_PACK[pack], ahead=False)


def _varlen(inputs: Inputs, *, splits: int, ahead: bool) -> Prepared:
    import fa3_fwd_interface as fa3

    k, v = inputs.contiguous
    w, longest = inputs.workload, max(inputs.kv_lens)
    metadata = _Metadata(inputs, splits=splits, pack=None)
    if ahead:

        def launch() -> Any:
            # The public varlen function takes no metadata; this is what it calls.
            return fa3._flash_attn_forward(  # noqa: SLF001
                inputs.q,
                k,
                v,
                cu_seqlens_q=inputs.cu_q,
                cu_seqlens_k=inputs.cu_kv,
                seqused_k=inputs.kv_lens_tensor,
                max_seqlen_q=w.q_len,
                max_seqlen_k=longest,
                softmax_scale=w.shape.head_dim**-0.5,
                causal=w.causal,
                scheduler_metadata=metadata.tensor,
                num_splits=splits,
            )[0]

        return _prepared(launch, metadata, ahead=True)

    def launch_plain() -> Any:
        return _output(
            fa3.flash_attn_varlen_func(
                inputs.q,
                k,
                v,
                inputs.cu_q,
                inputs.cu_kv,
                w.q_len,
                longest,
                causal=w.causal,
                num_splits=splits,
            )
        )

    return _prepared(launch_plain, metadata, ahead=False)


def _kvcache(inputs: Inputs, *, splits: int, pack: bool | None, ahead: bool) -> Prepared:
    import fa3_fwd_interface as fa3

    w, s = inputs.workload, inputs.workload.shape
    k, v = (x.view(w.kv.batch, -1, s.kv_heads, s.head_dim) for x in inputs.contiguous)
    q = inputs.q.view(w.kv.batch, w.q_len, s.q_heads, s.head_dim)
    # Once a request may be split the launch packs, whatever it is told (see
    # workloads.planner.flash_attn_3); the metadata's own function does as it is told, and its
    # splits would be others. Where the heuristic allows one split only, packing changes nothing.
    packed = pack if pack is None or splits == 1 else True
    metadata = _Metadata(inputs, splits=splits, pack=packed)

    def launch() -> Any:
        return _output(
            fa3.flash_attn_with_kvcache(
                q,
                k,
                v,
                cache_seqlens=inputs.kv_lens_tensor,
                causal=w.causal,
                scheduler_metadata=metadata.tensor if ahead else None,
                num_splits=splits,
                pack_gqa=pack,
            )
        )

    return _prepared(launch, metadata, ahead=ahead)


class _Metadata:
    """FA3's scheduler metadata; its first `batch` entries are the splits of each request."""

    def __init__(self, inputs: Inputs, *, splits: int, pack: bool | None) -> None:
        self._inputs, self._splits, self._pack = inputs, splits, pack
        self.compute()

    def compute(self) -> None:
        import fa3_fwd_interface as fa3

        w, s = self._inputs.workload, self._inputs.workload.shape
        self.tensor = fa3.get_scheduler_metadata(
            w.kv.batch,
            w.q_len,
            max(self._inputs.kv_lens),
            s.q_heads,
            s.kv_heads,
            s.head_dim,
            self._inputs.kv_lens_tensor,
            qkv_dtype=torch_dtype(s.dtype),
            causal=w.causal,
            num_splits=self._splits,
            pack_gqa=self._pack,
        )

    def facts(self) -> Facts:
        splits = self.tensor[: len(self._inputs.kv_lens)].tolist()
        return Facts(
            resolved_backend="fa3",
            splits_kv=max(splits) > 1,
            max_splits=max(splits),
            work_items=sum(splits),
            cubin=extension_hash("fa3_fwd._C"),
        )


def _prepared(launch: Callable[[], Any], metadata: _Metadata, *, ahead: bool) -> Prepared:
    plan = metadata.compute if ahead else None
    return Prepared(launch=launch, plan=plan, facts=metadata.facts)


def _output(result: Any) -> Any:
    return result[0] if isinstance(result, tuple) else result
