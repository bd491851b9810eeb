"""torch's scaled_dot_product_attention: FA2's kernel on a GPU, the embedded default on a CPU."""

from typing import Any, Final

from benchmarks.backends.adapter import Libraries, Prepared, Unsupported
from benchmarks.measure.inputs import Inputs
from workloads.shape import DType

__all__ = ["NAMES", "prepare"]

NAMES: Final = ("sdpa",)


def prepare(name: str, inputs: Inputs, libraries: Libraries) -> Prepared:
    """Make SDPA ready on contiguous KV of even or padded-and-masked lengths.

    Raises
    ------
    Unsupported
        If the workload is meant for another kind of device, or has no flash kernel.
    """
    del name
    if not libraries.has_torch:
        msg = "torch is not installed on this host"
        raise Unsupported(msg)
    shape = inputs.workload.shape
    on_cpu_workload = shape.dtype is DType.FP32
    if not libraries.has_gpu and not on_cpu_workload:
        msg = "a GPU workload: this host has no CUDA GPU"
        raise Unsupported(msg)
    if libraries.has_gpu and on_cpu_workload:
        msg = "a CPU workload: measured only on hosts without a GPU"
        raise Unsupported(msg)
    if shape.dtype is not shape.kv_dtype:
        msg = f"SDPA wants query and KV of one type, not {shape.dtype} over {shape.kv_dtype}"
        raise Unsupported(msg)
    if libraries.has_gpu:
        return Prepared(launch=_flash(inputs))
    return Prepared(launch=_requests(inputs))


def _flash(inputs: Inputs) -> Any:
    import torch.nn.functional as f
    from torch.nn.attention import SDPBackend, sdpa_kernel

    w, s = inputs.workload, inputs.workload.shape
    if len(set(inputs.kv_lens)) != 1 or (w.causal and w.q_len != inputs.kv_lens[0]):
        msg = "SDPA's flash kernel takes batches of one length, causal only from the first token"
        raise Unsupported(msg)
    q = inputs.q.view(w.kv.batch, w.q_len, s.q_heads, s.head_dim).transpose(1, 2)
    k, v = (
        x.view(w.kv.batch, -1, s.kv_heads, s.head_dim).transpose(1, 2) for x in inputs.contiguous
    )

    def launch() -> Any:
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            out = f.scaled_dot_product_attention(q, k, v, is_causal=w.causal, enable_gqa=True)
        return out.transpose(1, 2).reshape(inputs.q.shape)

    return launch


def _requests(inputs: Inputs) -> Any:
    """Run one call a request, as SDPA has no variable lengths; causal masks end aligned."""
    import torch
    import torch.nn.functional as f

    w = inputs.workload
    k, v = (x.split(inputs.kv_lens) for x in inputs.contiguous)
    q = inputs.q.split(w.q_len)
    masks = [_mask(w.q_len, n) if w.causal else None for n in inputs.kv_lens]

    def attend(i: int) -> Any:
        qi, ki, vi = (x.transpose(0, 1)[None] for x in (q[i], k[i], v[i]))
        out = f.scaled_dot_product_attention(qi, ki, vi, attn_mask=masks[i], enable_gqa=True)
        return out[0].transpose(0, 1)

    return lambda: torch.cat([attend(i) for i in range(w.kv.batch)])


def _mask(q_len: int, kv_len: int) -> Any:
    import torch

    return torch.ones(q_len, kv_len, dtype=torch.bool).tril(kv_len - q_len)
