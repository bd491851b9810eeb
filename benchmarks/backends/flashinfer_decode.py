"""FlashInfer decode: CUDA cores and tensor cores, planned eagerly or as a serving engine does."""

from typing import Any, Final

from packaging.version import Version

from benchmarks.backends.adapter import Libraries, Prepared, Unsupported
from benchmarks.backends.flashinfer_plan import data_types, page_table, planned
from benchmarks.backends.workspace import float_workspace
from benchmarks.measure.inputs import Inputs
from workloads.workload import Phase

__all__ = ["NAMES", "prepare"]

_PATHS: Final = ("cuda", "tc-fa2", "tc-fa3", "tc-auto")
NAMES: Final = tuple(
    f"flashinfer-decode-{path}{mode}" for mode in ("", "-serving") for path in _PATHS
)
_DECODE_FA3_SINCE: Final = Version("0.6.0")
_CUDA_CORE_GROUPS: Final = (1, 2, 3, 4, 8)
"""DISPATCH_GQA_GROUP_SIZE in include/flashinfer/utils.cuh, releases 0.5.0 to 0.6.4."""


def prepare(name: str, inputs: Inputs, libraries: Libraries) -> Prepared:
    """Plan a decode batch with the wrapper that `name` stands for.

    Raises
    ------
    Unsupported
        If the release lacks the path, or the path the workload's phase or head group.
    """
    version = libraries.require("flashinfer-python")
    serving = name.endswith("-serving")
    path = name.removeprefix("flashinfer-decode-").removesuffix("-serving")
    _check(path, inputs, version)
    wrapper = _wrapper(path, inputs, serving=serving)

    def plan() -> None:
        wrapper.plan(*page_table(inputs), pos_encoding_mode="NONE", **data_types(inputs))

    return planned(wrapper, inputs, plan, lambda: _resolved(wrapper, path, version))


def _resolved(wrapper: Any, path: str, version: Version) -> str | None:
    """Return what runs on tensor cores; releases before 0.6.0 run fa2 and keep the word `auto`."""
    if path == "cuda":
        return None
    told = str(wrapper._backend)  # noqa: SLF001 - no public way to ask
    return "fa2" if told == "auto" and version < _DECODE_FA3_SINCE else told


def _check(path: str, inputs: Inputs, version: Version) -> None:
    workload = inputs.workload
    if workload.phase is not Phase.DECODE:
        msg = "FlashInfer's decode wrapper runs decode only"
        raise Unsupported(msg)
    if path == "tc-fa3" and version < _DECODE_FA3_SINCE:
        msg = f"FlashInfer {version} has no fa3 path in its decode wrapper (since 0.6.0)"
        raise Unsupported(msg)
    if path == "cuda" and workload.shape.group not in _CUDA_CORE_GROUPS:
        msg = (
            f"FlashInfer {version} has no CUDA-core decode kernel for head group "
            f"{workload.shape.group} (only {', '.join(map(str, _CUDA_CORE_GROUPS))})"
        )
        raise Unsupported(msg)


def _wrapper(path: str, inputs: Inputs, *, serving: bool) -> Any:
    from flashinfer import BatchDecodeWithPagedKVCacheWrapper

    options: dict[str, Any] = {"use_tensor_cores": path != "cuda"}
    if path != "cuda":
        options["backend"] = path.removeprefix("tc-")
    if serving:
        paged = inputs.paged
        options |= {
            "use_cuda_graph": True,
            "paged_kv_indptr_buffer": paged.indptr.clone(),
            "paged_kv_indices_buffer": paged.indices.clone(),
            "paged_kv_last_page_len_buffer": paged.last_page_len.clone(),
        }
    return BatchDecodeWithPagedKVCacheWrapper(float_workspace(inputs.device), "NHD", **options)
