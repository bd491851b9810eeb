"""Reading the card's clocks, with a made-up NVML."""

import sys
from types import ModuleType
from typing import Any

import pytest

from benchmarks.measure.clocks import Clocks
from workloads.record import Conditions


class NVMLError(Exception):
    """What NVML raises."""


def install(monkeypatch: pytest.MonkeyPatch, **answers: Any) -> None:
    """Install an NVML that gives these answers; an exception among them is raised."""
    nvml = ModuleType("pynvml")
    defaults = {
        "nvmlInit": None,
        "nvmlDeviceGetHandleByUUID": "card",
        "nvmlDeviceGetClockInfo": 1980,
        "nvmlDeviceGetCurrentClocksThrottleReasons": 0b101,
        "nvmlDeviceGetPowerUsage": 412_345,
        "nvmlDeviceGetTemperature": 41,
    }

    def answering(answer: Any) -> Any:
        def call(*_: Any) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call

    for name, answer in {**defaults, **answers}.items():
        setattr(nvml, name, answering(answer))
    nvml.NVML_CLOCK_SM, nvml.NVML_TEMPERATURE_GPU = 1, 0  # type: ignore[attr-defined]
    nvml.NVMLError = NVMLError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pynvml", nvml)


def test_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clock in MHz, power in watts, temperature, and throttling without the idle bit."""
    install(monkeypatch)
    clocks = Clocks("GPU-1")
    assert clocks.sm_mhz() == 1980
    assert clocks.throttle() == 0b100
    assert clocks.conditions() == Conditions(412.3, 41, 0b100)


def test_without_a_card_there_are_no_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CPU host NVML is not even looked for."""
    install(monkeypatch, nvmlInit=AssertionError())
    clocks = Clocks("")
    assert (clocks.sm_mhz(), clocks.throttle(), clocks.conditions()) == (None, 0, None)


def test_without_nvml_there_are_no_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host without the bindings measures without clocks."""
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert Clocks("GPU-1").sm_mhz() is None


def test_an_unknown_card_has_no_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A card that NVML does not know is measured without clocks."""
    install(monkeypatch, nvmlDeviceGetHandleByUUID=NVMLError("not found"))
    assert Clocks("GPU-1").conditions() is None


@pytest.mark.parametrize(
    "refused", ["nvmlDeviceGetPowerUsage", "nvmlDeviceGetTemperature", "nvmlDeviceGetClockInfo"]
)
def test_a_reading_that_is_refused_is_missing(
    monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    """A virtual card that answers some questions only loses those readings, not its cases."""
    install(monkeypatch, **{refused: NVMLError("not supported")})
    clocks = Clocks("GPU-1")
    lost_clock = refused == "nvmlDeviceGetClockInfo"
    assert clocks.sm_mhz() == (None if lost_clock else 1980)
    assert (clocks.conditions() is None) is not lost_clock


def test_throttling_that_cannot_be_read_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown throttling is not reported as throttling."""
    install(monkeypatch, nvmlDeviceGetCurrentClocksThrottleReasons=NVMLError("not supported"))
    assert Clocks("GPU-1").throttle() == 0
