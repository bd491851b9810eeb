"""Reads one card through NVML; nothing is set."""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from benchmarks.doctor.snapshot import Card, Process

__all__ = ["load_card", "parse_xids"]

_LOOKS: Final = 5
_LOOK_EVERY_S = 0.3
_Answer = TypeVar("_Answer")
_XID = re.compile(r"NVRM: Xid \(PCI:([0-9a-fA-F:.]+)\): (\d+)")
_PLACE = re.compile(r"([0-9a-fA-F]+):([0-9a-fA-F]+):([0-9a-fA-F]+)")


def load_card(gpu_uuid: str, kernel_log: str | None) -> tuple[Card | None, str]:
    """Return the card that would be measured, and why NVML cannot be asked.

    Parameters
    ----------
    gpu_uuid
        What torch calls its device 0; NVML's first card if empty.
    kernel_log
        Lines of the kernel, None where they cannot be read.

    Returns
    -------
    tuple
        A card and no reason, or a reason and no card.
    """
    try:
        import pynvml
    except ImportError:
        return None, "pynvml cannot be imported"
    try:
        with _session(pynvml):
            if not pynvml.nvmlDeviceGetCount():
                return None, "NVML shows no GPU"
            handle = _handle(pynvml, gpu_uuid)
            return _Reader(pynvml, handle).card(kernel_log), ""
    except pynvml.NVMLError as error:
        return None, f"NVML fails: {error}"


@contextmanager
def _session(nvml: Any) -> Iterator[None]:
    nvml.nvmlInit()
    try:
        yield
    finally:
        nvml.nvmlShutdown()


def _handle(nvml: Any, gpu_uuid: str) -> Any:
    """Return the card; torch does not say whether it speaks of a card or of a part of one."""
    if not gpu_uuid:
        return nvml.nvmlDeviceGetHandleByIndex(0)
    with suppress(nvml.NVMLError):
        return nvml.nvmlDeviceGetHandleByUUID(f"GPU-{gpu_uuid}")
    part = nvml.nvmlDeviceGetHandleByUUID(f"MIG-{gpu_uuid}")
    return nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(part)


class _Reader:
    """Asks about one card and notes what is not answered."""

    def __init__(self, nvml: Any, handle: Any) -> None:
        self._nvml = nvml
        self._handle = handle
        self._unread: list[str] = []

    def card(self, kernel_log: str | None) -> Card:
        n, h = self._nvml, self._handle
        driver_cuda = self._ask("the driver's CUDA", n.nvmlSystemGetCudaDriverVersion)
        rows = self._ask("memory repair", lambda: n.nvmlDeviceGetRemappedRows(h))
        xids = self._xids(kernel_log)
        facts: Mapping[str, Any] = {
            "driver": self._ask("the driver", lambda: _text(n.nvmlSystemGetDriverVersion())) or "",
            "driver_cuda": None if driver_cuda is None else driver_cuda // 1000,
            "capability": self._ask(
                "compute capability", lambda: tuple(n.nvmlDeviceGetCudaComputeCapability(h))
            ),
            "processes": self._ask("processes", self._processes) or (),
            "used_bytes": self._ask("memory", lambda: int(n.nvmlDeviceGetMemoryInfo(h).used)),
            "busy_percent": self._ask("load", self._load),
            "repair": None if rows is None else any(rows[2:]),
            "xids": xids,
            **self._settings(),
        }
        return Card(_text(n.nvmlDeviceGetName(h)), **facts, unread=tuple(self._unread))

    def _settings(self) -> dict[str, Any]:
        n, h = self._nvml, self._handle
        # Newer drivers no longer tell set clocks, and the reasons for the clocks say as much.
        sm, first = n.NVML_CLOCK_SM, 0
        return {
            "throttle": self._ask(
                "throttling", lambda: int(n.nvmlDeviceGetCurrentClocksThrottleReasons(h))
            ),
            "power_cap_w": self._ask(
                "power cap", lambda: n.nvmlDeviceGetEnforcedPowerLimit(h) / 1e3
            ),
            "power_default_w": self._ask(
                "default power cap", lambda: n.nvmlDeviceGetPowerManagementDefaultLimit(h) / 1e3
            ),
            "set_mhz": self._ask(None, lambda: int(n.nvmlDeviceGetApplicationsClock(h, sm))),
            "default_mhz": self._ask(
                None, lambda: int(n.nvmlDeviceGetDefaultApplicationsClock(h, sm))
            ),
            "mig": self._ask("MIG", lambda: bool(n.nvmlDeviceGetMigMode(h)[first])),
            "persistence": self._ask(
                "persistence mode", lambda: bool(n.nvmlDeviceGetPersistenceMode(h))
            ),
            "ecc_errors": self._ask("memory errors", self._ecc_errors),
        }

    def _load(self) -> int:
        """Return the lowest of a few readings: waking the card up looks like load, too."""
        lowest = 100
        for _ in range(_LOOKS):
            rates = self._nvml.nvmlDeviceGetUtilizationRates(self._handle)
            lowest = min(lowest, int(rates.gpu))
            if not lowest:
                break
            time.sleep(_LOOK_EVERY_S)
        return lowest

    def _ecc_errors(self) -> int:
        n = self._nvml
        kind, since_load = n.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, n.NVML_VOLATILE_ECC
        return int(n.nvmlDeviceGetTotalEccErrors(self._handle, kind, since_load))

    def _processes(self) -> tuple[Process, ...]:
        n, h = self._nvml, self._handle
        running = [
            *n.nvmlDeviceGetComputeRunningProcesses(h),
            *n.nvmlDeviceGetGraphicsRunningProcesses(h),
        ]
        pids = sorted({int(p.pid) for p in running} - {os.getpid()})
        return tuple(Process(pid, _process_name(pid)) for pid in pids)

    def _xids(self, kernel_log: str | None) -> tuple[int, ...] | None:
        place = self._ask("bus", lambda: _text(self._nvml.nvmlDeviceGetPciInfo(self._handle).busId))
        if kernel_log is None or place is None:
            self._unread.append("Xid errors")
            return None
        return parse_xids(kernel_log, place)

    def _ask(self, what: str | None, question: Callable[[], _Answer]) -> _Answer | None:
        """Ask NVML; a part of a card, or a virtual one, answers some questions only.

        What is not answered is noted as `what`, unless that is None.
        """
        try:
            return question()
        except self._nvml.NVMLError:
            if what is not None:
                self._unread.append(what)
            return None


def parse_xids(kernel_log: str, bus: str) -> tuple[int, ...]:
    """Return the Xid errors of the card on a bus (`00000000:19:00.0`), each number once."""
    of_card = {int(xid) for place, xid in _XID.findall(kernel_log) if _key(place) == _key(bus)}
    return tuple(sorted(of_card))


def _key(place: str) -> tuple[int, ...]:
    match = _PLACE.match(place)
    return tuple(int(part, 16) for part in match.groups()) if match else ()


def _process_name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _text(answer: str | bytes) -> str:
    """Return text; old releases of pynvml answer in bytes."""
    return answer.decode() if isinstance(answer, bytes) else answer
