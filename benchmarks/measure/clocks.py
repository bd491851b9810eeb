"""Clocks, power and temperature of the card through NVML: read and recorded, never set."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from workloads.record import Conditions

__all__ = ["Clocks"]

_IDLE_REASON = 1
"""NVML's "GPU is idle" bit: true between blocks, and no throttling."""


class Clocks:
    """Reads the card that torch calls device 0; a reading is None where NVML has none.

    Parameters
    ----------
    gpu_uuid
        The card, as NVML names it; empty for none.
    """

    def __init__(self, gpu_uuid: str) -> None:
        self._nvml: Any = None
        self._handle: Any = None
        if gpu_uuid:
            with suppress(ImportError):
                self._open(gpu_uuid)

    def _open(self, gpu_uuid: str) -> None:
        import pynvml

        try:
            pynvml.nvmlInit()
            self._handle = pynvml.nvmlDeviceGetHandleByUUID(gpu_uuid)
        except pynvml.NVMLError:
            return
        self._nvml = pynvml

    def sm_mhz(self) -> int | None:
        """Return the SM clock in MHz."""
        return self._read(lambda n: n.nvmlDeviceGetClockInfo(self._handle, n.NVML_CLOCK_SM))

    def throttle(self) -> int:
        """Return NVML's mask of reasons that hold the clocks back, 0 for none."""
        reasons = self._read(lambda n: n.nvmlDeviceGetCurrentClocksThrottleReasons(self._handle))
        return (reasons or 0) & ~_IDLE_REASON

    def conditions(self) -> Conditions | None:
        """Return power, temperature and throttling now."""
        power_mw = self._read(lambda n: n.nvmlDeviceGetPowerUsage(self._handle))
        temperature = self._read(
            lambda n: n.nvmlDeviceGetTemperature(self._handle, n.NVML_TEMPERATURE_GPU)
        )
        if power_mw is None or temperature is None:
            return None
        return Conditions(round(power_mw / 1e3, 1), temperature, self.throttle())

    def _read(self, ask: Callable[[Any], Any]) -> int | None:
        """Ask NVML; a part of a card, or a virtual one, answers some questions only."""
        if self._nvml is None:
            return None
        try:
            return int(ask(self._nvml))
        except self._nvml.NVMLError:
            return None
