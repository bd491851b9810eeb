"""What FlashInfer's plan() is given, and reading what it planned, in any release since 0.5.0.

The layouts of `_plan_info` are those of `DecodePlanInfo` and `PrefillPlanInfo` in FlashInfer's
include/flashinfer/attention/scheduler.cuh. They are private: where they do not look as expected
a fact is None.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from benchmarks.backends.adapter import Prepared
from benchmarks.backends.flashinfer_modules import Module
from benchmarks.measure.inputs import Inputs, torch_dtype
from workloads.record import Facts

__all__ = ["data_types", "page_table", "plan_facts", "planned", "workspace_bytes"]

_DECODE_FIELDS: Final = 10
_PREFILL_FIELDS: Final = 15
_DECODE_CHUNK_OFFSET: Final = 7
_PREFILL_Q_TILE, _PREFILL_CHUNK_OFFSET = 3, 9
_NO_SPLIT_CHUNK: Final = 1 << 30


def page_table(inputs: Inputs) -> tuple[Any, ...]:
    """Return the positional arguments of plan() from the page table to the page size.

    Whatever comes after them goes in by keyword: later releases accept nothing else, and
    positions moved before.
    """
    shape, paged = inputs.workload.shape, inputs.paged
    table = paged.indptr_host, paged.indices, paged.last_page_len_host
    return (*table, shape.q_heads, shape.kv_heads, shape.head_dim, shape.page_size)


def data_types(inputs: Inputs) -> dict[str, Any]:
    """Return the keyword arguments of plan() that say what queries and KV cache consist of."""
    shape = inputs.workload.shape
    return {
        "q_data_type": torch_dtype(shape.dtype),
        "kv_data_type": torch_dtype(shape.kv_dtype),
    }


def planned(
    wrapper: Any,
    inputs: Inputs,
    plan: Callable[[], None],
    resolved: Callable[[], str | None],
) -> Prepared:
    """Plan once and return the wrapper's workload ready to run.

    Parameters
    ----------
    wrapper
        A FlashInfer decode or prefill wrapper.
    plan
        Calls its plan() for these inputs.
    resolved
        Tells what `auto` became, after plan(); None where the word has no meaning.
    """
    plan()
    out = inputs.empty_output()
    cache = (inputs.paged.k, inputs.paged.v)
    return Prepared(
        launch=lambda: wrapper.run(inputs.q, cache, out=out),
        plan=plan,
        facts=lambda: msgspec.structs.replace(
            plan_facts(wrapper, resolved(), inputs.kv_lens), cubin=_cubin(inputs, resolved())
        ),
        workspace_bytes=workspace_bytes(wrapper),
    )


def _cubin(inputs: Inputs, resolved: str | None) -> str | None:
    shape, path = inputs.workload.shape, resolved or "decode"
    if path not in {"decode", "fa2", "fa3"}:
        return None
    return Module(path, shape.dtype, shape.kv_dtype, shape.head_dim).cubin()


def plan_facts(wrapper: Any, resolved: str | None, kv_lens: Sequence[int]) -> Facts:
    """Return the facts of the plan a wrapper holds.

    Parameters
    ----------
    wrapper
        A FlashInfer decode or prefill wrapper after plan().
    resolved
        The backend that `auto` became; None where the word has no meaning.
    kv_lens
        KV tokens of each request.
    """
    info = _plan_info(wrapper)
    if len(info) == _DECODE_FIELDS:
        chunk = _chunk_tokens(wrapper, info[_DECODE_CHUNK_OFFSET])
        return _facts(resolved, info[0], None, chunk, kv_lens)
    if len(info) == _PREFILL_FIELDS:
        chunk = _chunk_tokens(wrapper, info[_PREFILL_CHUNK_OFFSET])
        return _facts(resolved, info[0], info[_PREFILL_Q_TILE], chunk, kv_lens)
    return Facts(resolved_backend=resolved, splits_kv=False if resolved == "fa3" else None)


def workspace_bytes(wrapper: Any) -> int | None:
    """Return the bytes of the wrapper's own integer workspace on the device."""
    buffer = getattr(wrapper, "_int_workspace_buffer", None)
    return None if buffer is None else int(buffer.numel() * buffer.element_size())


def _facts(
    resolved: str | None,
    padded_batch: int,
    q_tile: int | None,
    chunk: int | None,
    kv_lens: Sequence[int],
) -> Facts:
    chunks = [] if chunk is None else [-(-n // chunk) for n in kv_lens]
    unlimited = chunk is not None and chunk >= _NO_SPLIT_CHUNK
    return Facts(
        resolved_backend=resolved,
        splits_kv=max(chunks) > 1 if chunks else None,
        chunk_tokens=None if unlimited else chunk,
        padded_batch=padded_batch,
        q_tile=q_tile,
        max_splits=max(chunks, default=None),
        work_items=sum(chunks) if chunks else None,
    )


def _plan_info(wrapper: Any) -> list[int]:
    try:
        return [int(x) for x in wrapper._plan_info]  # noqa: SLF001 - no public way to read a plan
    except (AttributeError, TypeError):
        return []


def _chunk_tokens(wrapper: Any, offset: int) -> int | None:
    """Read the chunk length, in tokens, from the pinned copy of the integer workspace."""
    import torch

    pinned = getattr(wrapper, "_pin_memory_int_workspace_buffer", None)
    if pinned is None or pinned.element_size() != 1:
        return None
    if offset % 4 or not 0 <= offset <= pinned.numel() - 4:
        return None
    chunk = int(pinned[offset : offset + 4].view(torch.int32)[0])
    return chunk if chunk > 0 else None
