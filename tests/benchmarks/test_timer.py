"""Timers, as far as they work without a GPU."""

import itertools
import math
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.backends.adapter import Prepared, Script
from benchmarks.measure.timer import CpuTimer, GraphTimer, ScriptedTimer


def test_the_cpu_timer_times_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """One time a sample, in microseconds, of nothing but the launch."""
    now = itertools.count(0.0, 0.001)
    monkeypatch.setattr("benchmarks.measure.timer.time.perf_counter", lambda: next(now))
    calls: list[None] = []
    times = CpuTimer().block(lambda: calls.append(None), 5)
    assert times == pytest.approx([1000.0] * 5)
    assert len(calls) == 5


def test_the_cpu_timer_warms_up_and_hands_the_output_on() -> None:
    """The output that is checked comes from the launch that is timed."""
    outputs = itertools.count()
    launch, output = CpuTimer().ready(Prepared(launch=lambda: next(outputs)))
    assert output >= 1
    assert launch() == output + 1


def test_on_a_cpu_nothing_is_flushed() -> None:
    """Caches are as they are, and the protocol says so."""
    timer = CpuTimer()
    timer.flush()
    assert (timer.flush_bytes, timer.flush_us(), timer.name) == (0, 0.0, "perf-counter")


def test_the_scripted_timer_reports_the_script() -> None:
    """Each sample is the script's next time; the launch runs, so that it may crash."""
    launches: list[None] = []
    times = itertools.count(100.0)
    script = Script(lambda: next(times), 0.0)
    timer = ScriptedTimer()
    launch, output = timer.ready(Prepared(launch=lambda: launches.append(None), script=script))
    assert output is None
    assert timer.block(launch, 3) == [100.0, 101.0, 102.0]
    assert len(launches) == 2
    timer.flush()
    assert timer.flush_us() == 0.0


def test_the_scripted_timer_times_scripts_only() -> None:
    """A real launch has no scripted time."""
    with pytest.raises(TypeError, match="scripted backends only"):
        ScriptedTimer().ready(Prepared(launch=lambda: None))


class Device:
    """Stands for a GPU: keeps a list of what was enqueued, in order."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.capturing = False

    def do(self, what: str) -> None:
        self.log.append(f"captured {what}" if self.capturing else what)


class Tensor:
    """Memory whose fills are seen."""

    def __init__(self, device: Device, name: str) -> None:
        self.device, self.name = device, name

    def fill_(self, value: float) -> None:
        self.device.do(f"fill {self.name} {value}")


class Event:
    """Its time is its place in the log, in milliseconds."""

    def __init__(self, device: Device) -> None:
        self.device, self.place = device, math.nan

    def record(self, stream: object = None) -> None:
        assert stream in {None, "current"}
        self.place = float(len(self.device.log))
        self.device.do("event")

    def elapsed_time(self, end: "Event") -> float:
        return end.place - self.place


class Graph:
    """Captures what is enqueued between begin and end."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def capture_begin(self, pool: object) -> None:
        assert pool == "pool"
        self.device.capturing = True

    def capture_end(self) -> None:
        self.device.capturing = False

    def replay(self) -> None:
        self.device.do("replay")


class NoContext:
    """A stream's context and the stream itself."""

    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...
    def wait_stream(self, _: object) -> None: ...


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    """A made-up torch on a made-up GPU with 60 MB of L2 cache."""
    device = Device()
    cuda = SimpleNamespace(
        get_device_properties=lambda _: SimpleNamespace(L2_cache_size=60_000_000),
        Event=lambda enable_timing: Event(device) if enable_timing else None,
        graph_pool_handle=lambda: "pool",
        Stream=NoContext,
        stream=lambda stream: stream,
        current_stream=lambda: "current",
        synchronize=lambda: device.do("synchronize"),
        CUDAGraph=lambda: Graph(device),
    )

    def empty(elements: int, **_: Any) -> Tensor:
        assert elements * 4 == 120_000_000
        return Tensor(device, "flush")

    torch = SimpleNamespace(cuda=cuda, empty=empty, int32="int32")
    monkeypatch.setitem(sys.modules, "torch", torch)
    return device


def test_graphs_are_replayed_with_a_cold_cache(device: Device) -> None:
    """Before each sample the cache is flushed; between the events is the replay alone."""
    timer = GraphTimer()
    assert timer.flush_bytes == 120_000_000
    times = timer.block(Graph(device).replay, 2)
    sample = ["fill flush 1", "event", "replay", "event"]
    assert device.log == ["fill flush 1", *sample, *sample, "synchronize"]
    assert times == [2000.0, 2000.0]


def test_a_captured_launch_overwrites_poison(device: Device) -> None:
    """After warm-up and capture the output is filled with NaN, and the replay must replace it."""

    def launch() -> Tensor:
        device.do("launch")
        return Tensor(device, "output")

    replay, output = GraphTimer().ready(Prepared(launch=launch))
    assert device.log == [
        "launch",
        "launch",
        "synchronize",
        "captured launch",
        "fill output nan",
        "replay",
        "synchronize",
    ]
    assert output.name == "output"
    replay()
    assert device.log[-1] == "replay"


def test_a_failed_capture_is_ended(device: Device) -> None:
    """A launch that cannot be captured leaves no capture open for the next case."""
    launches = itertools.count()

    def launch() -> Tensor:
        if next(launches) == 2:
            msg = "operation not permitted when stream is capturing"
            raise RuntimeError(msg)
        return Tensor(device, "output")

    with pytest.raises(RuntimeError, match="not permitted"):
        GraphTimer().ready(Prepared(launch=launch))
    assert not device.capturing


def test_a_flush_is_timed(device: Device) -> None:
    """The time of one flush is the mean of eight."""
    assert GraphTimer().flush_us() == (8 + 1) * 1000 / 8
    assert device.log.count("fill flush 1") == 1 + 8
