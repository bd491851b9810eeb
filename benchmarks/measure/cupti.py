"""CUPTI's view of each launch: kernel names and the sum of their own times.

A cross-check beside the timer, taken once at the end of a round through torch's profiler.
"""

import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from workloads.record import Kernel

__all__ = ["KernelView", "split_trace", "view_launches"]

_ON_GPU: Final = ("kernel", "gpu_memset", "gpu_memcpy")


@dataclass(frozen=True, slots=True)
class KernelView:
    """What ran on the GPU in one launch.

    Attributes
    ----------
    microseconds
        Sum of the kernels' own times.
    kernels
        The kernels in order.
    """

    microseconds: float
    kernels: tuple[Kernel, ...]


def view_launches(
    launches: Sequence[Callable[[], Any]], flush: Callable[[], None]
) -> list[KernelView]:
    """Run each launch once, with a cold L2, under the profiler.

    Returns
    -------
    list of KernelView
        One a launch; empty if the profiler lost events, so that none is taken for another's.
    """
    import torch
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for launch in launches:
            flush()
            launch()
        flush()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory(prefix="attention-trace-") as folder:
        path = Path(folder, "trace.json")
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    views = split_trace(events)
    return views if len(views) == len(launches) else []


def split_trace(events: Sequence[dict[str, Any]]) -> list[KernelView]:
    """Cut a trace at the flushes, which come first and last.

    Parameters
    ----------
    events
        Of the trace format that torch's profiler writes: `cat`, `name`, `ts` and `dur` in
        microseconds, and for kernels `args` with `grid` and `block`.
    """
    on_gpu = sorted((e for e in events if e.get("cat") in _ON_GPU), key=lambda e: e["ts"])
    flush_name = on_gpu[0]["name"] if on_gpu else ""
    views: list[KernelView] = []
    current: list[dict[str, Any]] | None = None
    for event in on_gpu:
        if event["name"] == flush_name:
            if current:
                views.append(_view(current))
            current = []
        elif current is not None and event["cat"] == "kernel":
            current.append(event)
    return views


def _view(events: Sequence[dict[str, Any]]) -> KernelView:
    kernels = (
        Kernel(_base(e["name"]), tuple(e["args"]["grid"]), tuple(e["args"]["block"]))
        for e in events
    )
    return KernelView(round(sum(float(e["dur"]) for e in events), 3), tuple(kernels))


def _base(name: str) -> str:
    """Return `ns::Kernel` of `void ns::Kernel<…>(…)`."""
    return re.sub(r"[<(].*", "", name.removeprefix("void "), flags=re.DOTALL)
