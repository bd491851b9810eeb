"""CUPTI's view of each launch: kernel names and the sum of their own times.

A cross-check beside the timer, taken once at the end of a round through torch's profiler.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["KernelView", "view_launches"]

_MEMORY_OPS: Final = ("Memset", "Memcpy")


@dataclass(frozen=True, slots=True)
class KernelView:
    """What ran on the GPU in one launch.

    Attributes
    ----------
    microseconds
        Sum of the kernels' own times.
    kernels
        Their names in order, without template and call arguments.
    """

    microseconds: float
    kernels: tuple[str, ...]


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
    events = [
        (e.start_ns(), e.duration_ns() / 1e3, e.name())
        for e in profiler.profiler.kineto_results.events()
        if e.device_type() == torch.autograd.DeviceType.CUDA
    ]
    views = _split(sorted(events))
    return views if len(views) == len(launches) else []


def _split(events: Sequence[tuple[int, float, str]]) -> list[KernelView]:
    """Cut the stream of (start, microseconds, name) at the flushes, which come first and last."""
    flush_name = events[0][2] if events else ""
    views: list[KernelView] = []
    current: list[tuple[float, str]] | None = None
    for _, duration_us, name in events:
        if name == flush_name:
            if current:
                total = sum(us for us, _ in current)
                views.append(KernelView(round(total, 3), tuple(_base(n) for _, n in current)))
            current = []
        elif current is not None and not name.startswith(_MEMORY_OPS):
            current.append((duration_us, name))
    return views


def _base(name: str) -> str:
    """Return `ns::Kernel` of `void ns::Kernel<…>(…)`."""
    return re.sub(r"[<(].*", "", name.removeprefix("void "), flags=re.DOTALL)
