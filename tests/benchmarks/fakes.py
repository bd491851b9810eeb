"""Made-up attention libraries: they check how they are called, and compute nothing."""

import sys
from inspect import Parameter, Signature
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from benchmarks.backends.adapter import Libraries
from benchmarks.measure.inputs import Inputs, KvPool, pool_elements
from workloads.workload import Workload, parse

PINS = {"flashinfer-python": "0.6.1", "fa3-fwd": "0.0.3", "flash-attn": "2.8.3"}
BLOCKED = ("flashinfer", "fa3_fwd_interface", "flash_attn")

DECODE = "decode-h32x4-d128-bf16-p16-b4-skew40-t1024"
EVEN = "decode-h32x8-d128-bf16-p16-b4-uniform-t1024"
PREFILL = "prefill-h32x8-d128-bf16-p16-q16-b2-uniform-t256"


def libraries(
    versions: dict[str, str] | None = None, problems: dict[str, str] | None = None, **has: Any
) -> Libraries:
    """The libraries of a host with torch and a GPU, if nothing else is said."""
    given = {"has_torch": True, "has_gpu": True, **has}
    return Libraries(PINS if versions is None else versions, problems or {}, **given)


def inputs_of(workload: Workload | str) -> Inputs:
    """Inputs in memory of the CPU, whatever the workload is meant for."""
    w = parse(workload) if isinstance(workload, str) else workload
    return Inputs(w, KvPool("cpu", {w.shape.kv_dtype: pool_elements(w)}))


def block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make an import of any attention library an error."""
    for name in BLOCKED:
        monkeypatch.setitem(sys.modules, name, None)


def install(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    """Install a made-up module."""
    module = ModuleType(name)
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, name, module)


_DEFAULTS = {"kv_layout": "NHD", "backend": "auto", "use_cuda_graph": False, "causal": False}
_DEFAULTS |= {"use_tensor_cores": False, "q_data_type": "float16", "pos_encoding_mode": "NONE"}


def _declared(required: str, optional: str, *, by_keyword: bool = False) -> Signature:
    """A signature: parameters in order, and whether those with a default go by keyword only."""
    kind = Parameter.KEYWORD_ONLY if by_keyword else Parameter.POSITIONAL_OR_KEYWORD
    first = [Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in required.split()]
    rest = [Parameter(n, kind, default=_DEFAULTS.get(n)) for n in optional.split()]
    return Signature([*first, *rest])


_NEW_DECODE = _declared(
    "float_workspace_buffer",
    "kv_layout use_cuda_graph use_tensor_cores paged_kv_indptr_buffer paged_kv_indices_buffer "
    "paged_kv_last_page_len_buffer backend jit_args",
)
_NEW_PREFILL = _declared(
    "float_workspace_buffer",
    "kv_layout use_cuda_graph qo_indptr_buf paged_kv_indptr_buf paged_kv_indices_buf "
    "paged_kv_last_page_len_buf custom_mask_buf mask_indptr_buf backend jit_args jit_kwargs",
)
_RUN = _declared("q paged_kv_cache", "q_scale k_scale v_scale out lse", by_keyword=True)

_DECODE = "indptr indices last_page_len num_qo_heads num_kv_heads head_dim page_size"
_DECODE_TYPES = "pos_encoding_mode window_left logits_soft_cap q_data_type kv_data_type"
_DECODE_REST = (
    "data_type sm_scale rope_scale rope_theta non_blocking block_tables seq_lens fixed_split_size "
    "disable_split_kv"
)
_PREFILL = (
    "qo_indptr paged_kv_indptr paged_kv_indices paged_kv_last_page_len num_qo_heads num_kv_heads "
    "head_dim_qk page_size"
)
_PREFILL_TYPES = (
    "head_dim_vo custom_mask packed_custom_mask causal pos_encoding_mode use_fp16_qk_reduction "
    "sm_scale window_left logits_soft_cap rope_scale rope_theta q_data_type kv_data_type"
)
_PREFILL_REST = "non_blocking prefix_len_ptr fixed_split_size disable_split_kv"

RELEASES = {
    "0.5.3": (
        _declared(_DECODE, f"{_DECODE_TYPES} {_DECODE_REST}"),
        _declared(_PREFILL, f"{_PREFILL_TYPES} {_PREFILL_REST}"),
    ),
    "0.6.4": (
        _declared(_DECODE, f"{_DECODE_TYPES} o_data_type {_DECODE_REST}"),
        _declared(_PREFILL, f"{_PREFILL_TYPES} o_data_type {_PREFILL_REST}"),
    ),
    "0.6.15": (
        _declared(_DECODE, f"q_len_per_req o_data_type {_DECODE_TYPES}", by_keyword=True),
        _declared(_PREFILL, f"{_PREFILL_TYPES} o_data_type {_PREFILL_REST}", by_keyword=True),
    ),
    "0.7.4": (
        _declared(_DECODE, f"q_len_per_req o_data_type {_DECODE_TYPES}", by_keyword=True),
        _declared(
            _PREFILL,
            f"{_PREFILL_TYPES} o_data_type {_PREFILL_REST} uniform_q_len use_token_head_sf",
        ),
    ),
}
"""plan() of the decode and the prefill wrapper, as these releases declare it."""


def _bind(declared: Signature, *args: Any, **kwargs: Any) -> dict[str, Any]:
    bound = declared.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


class Wrapper:
    """A FlashInfer wrapper: each call is checked against the release's declaration and kept."""

    def __init__(self, new: Signature, plan: Signature) -> None:
        self._new, self._plan = new, plan
        self.made: list[Any] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        wrapper = SimpleNamespace(options=_bind(self._new, *args, **kwargs), plans=[], runs=[])
        # Like FlashInfer's, "auto" is resolved by the first plan().
        wrapper._backend = wrapper.options["backend"]

        def plan(*args: Any, **kwargs: Any) -> None:
            wrapper.plans.append(_bind(self._plan, *args, **kwargs))
            wrapper._backend = "fa3" if wrapper._backend == "auto" else wrapper._backend

        def run(*args: Any, **kwargs: Any) -> Any:
            wrapper.runs.append(_bind(_RUN, *args, **kwargs))
            return wrapper.runs[-1]["out"]

        wrapper.plan, wrapper.run = plan, run
        self.made.append(wrapper)
        return wrapper


def install_flashinfer(monkeypatch: pytest.MonkeyPatch, release: str) -> tuple[Wrapper, Wrapper]:
    """Install a FlashInfer of this release; return its decode and prefill wrappers."""
    plan_decode, plan_prefill = RELEASES[release]
    decode = Wrapper(_NEW_DECODE, plan_decode)
    prefill = Wrapper(_NEW_PREFILL, plan_prefill)
    install(
        monkeypatch,
        "flashinfer",
        BatchDecodeWithPagedKVCacheWrapper=decode,
        BatchPrefillWithPagedKVCacheWrapper=prefill,
    )
    for adapter in ("flashinfer_decode", "flashinfer_prefill"):
        monkeypatch.setattr(f"benchmarks.backends.{adapter}.float_workspace", lambda _: "workspace")
    return decode, prefill
