"""FlashAttention-2 through `flash-attn`, with a paged KV cache.

The index has only its source, so a stack pins a wheel that the user built.
"""

from collections.abc import Callable
from typing import Any, Final

from benchmarks.backends.adapter import Libraries, Prepared, Unsupported
from benchmarks.backends.device_code import extension_hash
from benchmarks.measure.inputs import Inputs
from workloads.record import Facts
from workloads.shape import DType

__all__ = ["NAMES", "prepare"]

NAMES: Final = ("flash-attn-paged",)
_PAGE_MULTIPLE: Final = 256
"""flash_attn_with_kvcache's docstring: the page size must be a multiple of 256."""


def prepare(name: str, inputs: Inputs, libraries: Libraries) -> Prepared:
    """Make FA2 ready on pages of 256 tokens, the smallest it takes.

    Raises
    ------
    Unsupported
        If the stack pins no flash-attn wheel, or the data types are not BF16.
    """
    del name
    if "flash-attn" not in libraries.versions and libraries.has_gpu:
        msg = (
            "this stack pins no flash-attn: the index has only its source, so build a wheel and "
            "add it with `python -m benchmarks stacks adhoc TAG --wheel FILE`"
        )
        raise Unsupported(msg)
    libraries.require("flash-attn")
    shape = inputs.workload.shape
    if shape.dtype is not DType.BF16 or shape.kv_dtype is not DType.BF16:
        msg = f"flash-attn has no kernel for {shape.dtype} over {shape.kv_dtype} KV"
        raise Unsupported(msg)
    if shape.page_size % _PAGE_MULTIPLE:
        msg = f"flash-attn wants pages of a multiple of {_PAGE_MULTIPLE}, not {shape.page_size}"
        raise Unsupported(msg)
    return Prepared(
        launch=_launch(inputs), facts=lambda: Facts(cubin=extension_hash("flash_attn_2_cuda"))
    )


def _launch(inputs: Inputs) -> Callable[[], Any]:
    from flash_attn import flash_attn_with_kvcache
    from torch.nn.utils.rnn import pad_sequence

    w, s, paged = inputs.workload, inputs.workload.shape, inputs.paged
    q = inputs.q.view(w.kv.batch, w.q_len, s.q_heads, s.head_dim)
    rows = paged.indices.split(paged.indptr_host.diff().tolist())
    table = pad_sequence(list(rows), batch_first=True)
    return lambda: flash_attn_with_kvcache(
        q,
        paged.k,
        paged.v,
        cache_seqlens=inputs.kv_lens_tensor,
        block_table=table,
        causal=w.causal,
    )
