"""SplitKV planners of attention libraries, as pure functions: what each does with a batch.

`plan` takes a workload, `plan_batch` any KV lengths; both take the name of a backend. A plan says
what a library decides, not how long it takes. Sources are named planner by planner.
"""

from typing import Final

from packaging.version import InvalidVersion, Version

from workloads.backend import Mode, backend
from workloads.devices import Device
from workloads.planner.flash_attn_2 import plan_flash_attn_2
from workloads.planner.flash_attn_3 import Fa3Call, Fa3Rules, plan_flash_attn_3
from workloads.planner.flashinfer_auto import check_decode_fa3, resolve_auto
from workloads.planner.flashinfer_cuda import plan_flashinfer_cuda
from workloads.planner.flashinfer_fa2 import knows_query_length, plan_flashinfer_fa2
from workloads.planner.flashinfer_fa3 import plan_flashinfer_fa3
from workloads.planner.plan import Batch, Items, Plan, Schedule
from workloads.workload import Workload

__all__ = ["Batch", "Items", "Plan", "Schedule", "plan", "plan_batch"]

_PACK: Final = {"auto": None, "true": True, "false": False}


def plan(
    name: str,
    workload: Workload,
    device: Device,
    *,
    version: str | None = None,
    occupancy: int | None = None,
) -> Plan:
    """Plan a workload; see `plan_batch`."""
    batch = Batch.of(workload)
    return plan_batch(name, batch, device, version=version, occupancy=occupancy)


def plan_batch(
    name: str,
    batch: Batch,
    device: Device,
    *,
    version: str | None = None,
    occupancy: int | None = None,
) -> Plan:
    """Return what a backend does with a batch on a device.

    Parameters
    ----------
    name
        Name of a backend, see `workloads.backend`.
    batch
        KV lengths, shape, query length.
    version
        Release of the backend's library; None for the newest rules known. For FlashAttention-3 it
        may also be the name of a rule set, see `Fa3Rules`; of FlashAttention-2 one is known.
    occupancy
        CTAs of FlashInfer's CUDA-core decode kernel that an SM holds; None to take what is known.

    Raises
    ------
    ValueError
        If there is no such backend, nothing is known of its planner, or the library has no
        kernel for this; the message says so.
    """
    library = backend(name).library
    if library == "flashinfer-python":
        release = None if version is None else _parse_version(version)
        return _flashinfer(name, batch, device, release=release, occupancy=occupancy)
    if library == "fa3-fwd":
        return plan_flash_attn_3(batch, device, _fa3_call(name), _fa3_rules(version))
    if library == "flash-attn":
        return plan_flash_attn_2(batch, device)
    msg = f"nothing is known of how {name} plans"
    raise ValueError(msg)


def _flashinfer(
    name: str, batch: Batch, device: Device, *, release: Version | None, occupancy: int | None
) -> Plan:
    serving = backend(name).mode is Mode.SERVING
    wrapper, _, path = name.removeprefix("flashinfer-").removesuffix("-serving").partition("-")
    if wrapper == "decode" and (batch.q_len != 1 or batch.causal):
        msg = f"{name} decodes 1 query token a request without a mask"
        raise ValueError(msg)
    if path == "cuda":
        return plan_flashinfer_cuda(
            batch, device, serving=serving, occupancy=occupancy, release=release
        )
    if path == "tc-fa3":
        check_decode_fa3(release)
    elif path.endswith("auto"):
        path = resolve_auto(wrapper, batch, device, release)
    if path.endswith("fa3"):
        return plan_flashinfer_fa3(batch, device, release)
    uniform = knows_query_length(wrapper, release)
    return plan_flashinfer_fa2(batch, device, serving=serving, uniform=uniform)


def _fa3_call(name: str) -> Fa3Call:
    """Return what a backend calls, as its adapter in `benchmarks.backends.fa3` does."""
    ahead = name.endswith("-metadata")
    if name.startswith("fa3-varlen"):
        return Fa3Call(num_splits=int(name.endswith("-splits-1")), ahead=ahead)
    if ahead:
        return Fa3Call(varlen_q=False, ahead=True)
    pack, splits = name.removeprefix("fa3-kvcache-pack-").split("-splits-")
    num_splits = 0 if splits == "auto" else int(splits)
    return Fa3Call(num_splits=num_splits, pack=_PACK[pack], varlen_q=False)


def _fa3_rules(version: str | None) -> Fa3Rules:
    if version in tuple(Fa3Rules):
        return Fa3Rules(version)
    if version is not None:
        _parse_version(version)
    return Fa3Rules.SORTED


def _parse_version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        msg = f"{text!r} is no version"
        raise ValueError(msg) from None
