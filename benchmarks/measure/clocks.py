"""Clocks, power and temperature of the card through NVML: read and recorded, never set."""

from contextlib import suppress
from typing import Any

from workloads.record import Conditions

__all__ = ["Clocks"]

_IDLE_REASON = 1
"""NVML's "GPU is idle" bit: true between blocks, and no throttling."""


class Clocks:
    """Reads the card that torch calls device 0; every reading is None where NVML is absent.

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
        if self._nvml is None:
            return None
        return int(self._nvml.nvmlDeviceGetClockInfo(self._handle, self._nvml.NVML_CLOCK_SM))

    def throttle(self) -> int:
        """Return NVML's mask of reasons that hold the clocks back, 0 for none."""
        if self._nvml is None:
            return 0
        reasons = self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self._handle)
        return int(reasons) & ~_IDLE_REASON

    def conditions(self) -> Conditions | None:
        """Return power, temperature and throttling now."""
        if self._nvml is None:
            return None
        power_mw = self._nvml.nvmlDeviceGetPowerUsage(self._handle)
        temperature = self._nvml.nvmlDeviceGetTemperature(
            self._handle, self._nvml.NVML_TEMPERATURE_GPU
        )
        return Conditions(round(power_mw / 1e3, 1), int(temperature), self.throttle())
