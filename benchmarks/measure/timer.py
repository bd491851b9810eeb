"""Timers: how long one launch takes, on a GPU, on a CPU, or as scripted.

On a GPU a launch is captured into a CUDA graph and replayed between two device events with a
cold L2 cache; timing eager launches instead measures launch gaps.
"""

import time
from collections.abc import Callable
from typing import Any, Final, Protocol

from benchmarks.backends.adapter import Prepared

__all__ = ["CpuTimer", "GraphTimer", "Launch", "ScriptedTimer", "Timer"]

_MAX_SAMPLES: Final = 64
_WARM_UPS: Final = 2


Launch = Callable[[], Any]
"""A launch made ready for timing; calling it runs it once."""


class Timer(Protocol):
    """Takes samples of one launch.

    Attributes
    ----------
    name
        Goes into the round's protocol.
    flush_bytes
        Device memory overwritten before each sample.
    """

    name: str
    flush_bytes: int

    def ready(self, prepared: Prepared) -> tuple[Launch, Any]:
        """Return the launch made ready for timing, and its output after one poisoned run.

        Read the output at once and let go of it: the next case may use its memory.
        """

    def block(self, launch: Launch, samples: int) -> list[float]:
        """Return that many times of one launch each, in microseconds."""

    def flush(self) -> None:
        """Make the L2 cache cold."""

    def flush_us(self) -> float:
        """Return the time of one flush, in microseconds."""


class GraphTimer:
    """CUDA-graph replay between device events, cold L2.

    Raises
    ------
    RuntimeError
        From torch, if there is no usable CUDA device.
    """

    name = "cuda-graph-events"

    def __init__(self) -> None:
        import torch

        self._torch = torch
        l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        self.flush_bytes = 2 * l2_bytes
        self._flush = torch.empty(self.flush_bytes // 4, dtype=torch.int32, device="cuda")
        self._events = [
            (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
            for _ in range(_MAX_SAMPLES)
        ]
        self._pool = torch.cuda.graph_pool_handle()
        self._stream = torch.cuda.Stream()

    def flush(self) -> None:
        """Overwrite twice the L2 cache, with a kernel of a name no attention library uses."""
        self._flush.fill_(1)

    def ready(self, prepared: Prepared) -> tuple[Launch, Any]:
        """Capture one launch; all graphs share one memory pool, as they never overlap."""
        torch = self._torch
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            for _ in range(_WARM_UPS):
                prepared.launch()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(self._stream):
            # torch.cuda.graph() would collect garbage and empty the allocator's cache each time.
            graph.capture_begin(pool=self._pool)
            try:
                output = prepared.launch()
            finally:
                graph.capture_end()
        output.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        return graph.replay, output

    def block(self, launch: Launch, samples: int) -> list[float]:
        """Replay back to back; the first flush runs twice so that the host gets ahead."""
        events = self._events[: min(samples, _MAX_SAMPLES)]
        stream = self._torch.cuda.current_stream()
        self.flush()
        for start, end in events:
            self.flush()
            start.record(stream)
            launch()
            end.record(stream)
        self._torch.cuda.synchronize()
        return [start.elapsed_time(end) * 1e3 for start, end in events]

    def flush_us(self) -> float:
        """Time eight flushes between two events."""
        start, end = self._events[0]
        self.flush()
        start.record()
        for _ in range(8):
            self.flush()
        end.record()
        self._torch.cuda.synchronize()
        return float(start.elapsed_time(end)) * 1e3 / 8


class CpuTimer:
    """Host clock around a call, caches as they are."""

    name = "perf-counter"
    flush_bytes = 0

    def ready(self, prepared: Prepared) -> tuple[Launch, Any]:
        """Warm up; on a CPU the launch itself is what runs, into fresh memory each time."""
        for _ in range(_WARM_UPS):
            output = prepared.launch()
        return prepared.launch, output

    def block(self, launch: Launch, samples: int) -> list[float]:
        """Time each call."""
        times = []
        for _ in range(samples):
            start = time.perf_counter()
            launch()
            times.append((time.perf_counter() - start) * 1e6)
        return times

    def flush(self) -> None:
        """Do nothing: a CPU workload runs with caches as they are."""

    def flush_us(self) -> float:
        """Return 0: nothing is flushed."""
        return 0.0


class ScriptedTimer:
    """Reports what a scripted backend says, for tests of everything around measuring."""

    name = "scripted"
    flush_bytes = 0

    def __init__(self) -> None:
        self._us: dict[Launch, Callable[[], float]] = {}

    def ready(self, prepared: Prepared) -> tuple[Launch, Any]:
        """Remember the script of this launch; it has no output."""
        if prepared.script is None:
            msg = "the scripted timer times scripted backends only"
            raise TypeError(msg)
        self._us[prepared.launch] = prepared.script.us
        prepared.launch()
        return prepared.launch, None

    def block(self, launch: Launch, samples: int) -> list[float]:
        """Run once, so that a scripted crash happens, and report scripted times."""
        launch()
        return [self._us[launch]() for _ in range(samples)]

    def flush(self) -> None:
        """Do nothing."""

    def flush_us(self) -> float:
        """Return 0: nothing is flushed."""
        return 0.0
