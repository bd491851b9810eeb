"""Cutting profiler traces; the traces here are made up in the profiler's format."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Self

import pytest

from benchmarks.measure.cupti import KernelView, split_trace, view_launches
from workloads.record import Kernel

FLUSH = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>>(int)"
DECODE = "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0>(P)"
MERGE = "void flashinfer::PersistentVariableLengthMergeStatesKernel<8u, float>(float*)"
FA3 = "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<\n a, b>>>(c)"


class Trace:
    """Events one after another, a microsecond apart."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = [{"ph": "M", "name": "process_name"}]

    def add(self, name: str, dur: float = 10.0, cat: str = "kernel") -> "Trace":
        ts = 1.0 + sum(e.get("dur", 0.0) + 1.0 for e in self.events)
        args = {"grid": [4, 1, 2], "block": [128, 1, 1]} if cat == "kernel" else {"bytes": 4}
        self.events.append({"cat": cat, "name": name, "ts": ts, "dur": dur, "args": args})
        return self


def names(views: list[KernelView]) -> list[tuple[str, ...]]:
    return [tuple(k.name for k in view.kernels) for view in views]


def test_launches_are_what_is_between_flushes() -> None:
    """Each launch has its kernels in order, their shapes, and the sum of their times."""
    trace = Trace().add(FLUSH, 60).add(DECODE, 20.5).add(MERGE, 3.25).add(FLUSH, 60)
    trace.add(FA3, 40).add(FLUSH, 60)
    first, second = split_trace(trace.events)
    assert first == KernelView(
        23.75,
        (
            Kernel("flashinfer::BatchDecodeWithPagedKVCacheKernel", (4, 1, 2), (128, 1, 1)),
            Kernel("flashinfer::PersistentVariableLengthMergeStatesKernel", (4, 1, 2), (128, 1, 1)),
        ),
    )
    assert names([second]) == [("cutlass::device_kernel",)]
    assert second.microseconds == 40.0


def test_memory_operations_in_a_launch_are_no_kernels() -> None:
    """A memset between kernels neither counts nor cuts the launch."""
    trace = Trace().add(FLUSH).add("Memset (Device)", 2, "gpu_memset").add(DECODE, 20)
    trace.add("Memcpy HtoD", 2, "gpu_memcpy").add(MERGE, 3).add(FLUSH)
    (view,) = split_trace(trace.events)
    assert view.microseconds == 23.0
    assert len(view.kernels) == 2


def test_events_may_come_in_any_order() -> None:
    """The trace's file is not sorted by time."""
    trace = Trace().add(FLUSH).add(DECODE, 20).add(MERGE, 3).add(FLUSH).add(FA3, 40).add(FLUSH)
    assert split_trace(trace.events[::-1]) == split_trace(trace.events)


def test_events_of_the_host_are_ignored() -> None:
    """Only what ran on the GPU counts."""
    trace = Trace().add("cudaGraphLaunch", 5, "cuda_runtime").add(FLUSH)
    trace.add("cudaLaunchKernel", 5, "cuda_runtime").add(DECODE, 20).add(FLUSH)
    assert names(split_trace(trace.events)) == [("flashinfer::BatchDecodeWithPagedKVCacheKernel",)]


@pytest.mark.parametrize("events", [[], [{"ph": "M"}], Trace().add(FLUSH).events])
def test_a_trace_without_launches_has_no_views(events: list[dict[str, Any]]) -> None:
    """Nothing in, nothing out."""
    assert split_trace(events) == []


def test_what_follows_the_last_flush_is_no_launch() -> None:
    """A launch is closed by a flush; without one it may be cut off."""
    trace = Trace().add(FLUSH).add(DECODE).add(FLUSH).add(MERGE)
    assert len(split_trace(trace.events)) == 1


def profiled(monkeypatch: pytest.MonkeyPatch, trace: Trace) -> None:
    """Install a torch whose profiler gives this trace."""

    class Profile:
        def __init__(self, activities: list[str]) -> None:
            assert activities == ["CUDA"]

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None: ...

        @staticmethod
        def export_chrome_trace(path: str) -> None:
            Path(path).write_text(json.dumps({"traceEvents": trace.events}))

    torch, profiler = ModuleType("torch"), ModuleType("torch.profiler")
    torch.cuda = SimpleNamespace(synchronize=lambda: None)  # type: ignore[attr-defined]
    profiler.profile = Profile  # type: ignore[attr-defined]
    profiler.ProfilerActivity = SimpleNamespace(CUDA="CUDA")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.profiler", profiler)


def test_each_launch_is_run_once_between_flushes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flush comes before every launch and after the last one."""
    profiled(monkeypatch, Trace().add(FLUSH).add(DECODE).add(FLUSH).add(FA3).add(FLUSH))
    done: list[str] = []
    launches = [lambda: done.append("decode"), lambda: done.append("fa3")]
    views = view_launches(launches, lambda: done.append("flush"))
    assert done == ["flush", "decode", "flush", "fa3", "flush"]
    assert [names([v])[0][0].rpartition(":")[2] for v in views] == [
        "BatchDecodeWithPagedKVCacheKernel",
        "device_kernel",
    ]


@pytest.mark.parametrize(
    "trace",
    [
        Trace().add(FLUSH).add(DECODE).add(FA3).add(FLUSH),  # a flush was lost
        Trace().add(FLUSH).add(DECODE).add(FLUSH).add(FLUSH),  # a launch was lost
        Trace().add(FLUSH).add(DECODE).add(FLUSH).add(FA3),  # the end was lost
        Trace().add(FLUSH).add(DECODE).add(FLUSH).add(MERGE).add(FLUSH).add(FA3).add(FLUSH),
        Trace(),
    ],
)
def test_a_trace_that_does_not_fit_gives_no_views(
    monkeypatch: pytest.MonkeyPatch, trace: Trace
) -> None:
    """With an event lost or too many, no launch is given the kernels of another."""
    profiled(monkeypatch, trace)
    assert view_launches([lambda: None, lambda: None], lambda: None) == []
