"""FlashInfer paged prefill through its fa2 and fa3 paths, and what `auto` picks."""

from typing import Final

from benchmarks.backends.adapter import Libraries, Prepared
from benchmarks.backends.flashinfer_plan import data_types, page_table, planned
from benchmarks.backends.workspace import float_workspace
from benchmarks.measure.inputs import Inputs

__all__ = ["NAMES", "prepare"]

NAMES: Final = tuple(f"flashinfer-prefill-{path}" for path in ("fa2", "fa3", "auto"))


def prepare(name: str, inputs: Inputs, libraries: Libraries) -> Prepared:
    """Plan a prefill batch with the wrapper that `name` stands for.

    Raises
    ------
    Unsupported
        If FlashInfer cannot run here at all.
    """
    libraries.require("flashinfer-python")
    from flashinfer import BatchPrefillWithPagedKVCacheWrapper

    wrapper = BatchPrefillWithPagedKVCacheWrapper(
        float_workspace(inputs.device), "NHD", backend=name.removeprefix("flashinfer-prefill-")
    )

    def plan() -> None:
        causal = inputs.workload.causal
        wrapper.plan(inputs.cu_q_host, *page_table(inputs), causal=causal, **data_types(inputs))

    return planned(wrapper, inputs, plan, lambda: str(wrapper._backend))  # noqa: SLF001
