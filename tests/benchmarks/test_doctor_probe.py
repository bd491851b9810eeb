"""Reading a host, with a made-up NVML and made-up programs on PATH."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from benchmarks.doctor import card, probe
from benchmarks.doctor.card import load_card, parse_xids
from benchmarks.doctor.snapshot import Card, Process, StackNeeds, Torch
from benchmarks.doctor.torch_facts import torch_facts
from tests.benchmarks.synthetic import stack


class NVMLError(Exception):
    """What NVML raises."""


class Nvml(ModuleType):
    """An NVML with one card, whose answers a test changes; an exception is raised."""

    NVMLError = NVMLError
    NVML_CLOCK_SM = 1
    NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1
    NVML_VOLATILE_ECC = 0

    def __init__(self, **changes: Any) -> None:
        super().__init__("pynvml")
        self.open = 0
        self.answers: dict[str, Any] = {
            "SystemGetCudaDriverVersion": 13000,
            "SystemGetDriverVersion": b"580.65.06",
            "DeviceGetCount": 1,
            "DeviceGetHandleByIndex": "first",
            "DeviceGetHandleByUUID": "by uuid",
            "DeviceGetName": "NVIDIA H200",
            "DeviceGetCudaComputeCapability": (9, 0),
            "DeviceGetComputeRunningProcesses": [],
            "DeviceGetGraphicsRunningProcesses": [],
            "DeviceGetMemoryInfo": SimpleNamespace(used=5),
            "DeviceGetUtilizationRates": SimpleNamespace(gpu=0),
            "DeviceGetRemappedRows": (0, 0, 0, 0),
            "DeviceGetPciInfo": SimpleNamespace(busId=b"00000000:19:00.0"),
            "DeviceGetCurrentClocksThrottleReasons": 1,
            "DeviceGetEnforcedPowerLimit": 700_000,
            "DeviceGetPowerManagementDefaultLimit": 700_000,
            "DeviceGetApplicationsClock": 1980,
            "DeviceGetDefaultApplicationsClock": 1980,
            "DeviceGetMigMode": [0, 0],
            "DeviceGetPersistenceMode": 1,
            "DeviceGetTotalEccErrors": 0,
            **changes,
        }

    def __getattr__(self, name: str) -> Any:
        if name == "nvmlInit":
            return lambda: setattr(self, "open", self.open + 1)
        if name == "nvmlShutdown":
            return lambda: setattr(self, "open", self.open - 1)
        try:
            answer = self.answers[name.removeprefix("nvml")]
        except KeyError:
            raise AttributeError(name) from None
        return lambda *arguments: self._say(answer, arguments)

    @staticmethod
    def _say(answer: Any, arguments: tuple[Any, ...]) -> Any:
        said = answer(*arguments) if callable(answer) else answer
        if isinstance(said, NVMLError):
            raise said
        return said


def install(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> Nvml:
    nvml = Nvml(**changes)
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.setattr(card, "_LOOK_EVERY_S", 0)
    return nvml


def read(monkeypatch: pytest.MonkeyPatch, log: str | None = "", **changes: Any) -> Card:
    install(monkeypatch, **changes)
    found, problem = load_card("", log)
    assert problem == ""
    assert found is not None
    return found


def test_a_card_is_read_and_nvml_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """All facts stand in their units, and NVML is left as it was."""
    nvml = install(monkeypatch)
    assert load_card("", "") == (
        Card(
            "NVIDIA H200",
            driver="580.65.06",
            driver_cuda=13,
            capability=(9, 0),
            used_bytes=5,
            busy_percent=0,
            throttle=1,
            power_cap_w=700.0,
            power_default_w=700.0,
            set_mhz=1980,
            default_mhz=1980,
            mig=False,
            persistence=True,
            ecc_errors=0,
            repair=False,
            xids=(),
        ),
        "",
    )
    assert nvml.open == 0


def test_what_nvml_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A virtual card answers some questions only: the others are None and told."""
    refused = NVMLError("not supported")
    found = read(
        monkeypatch, None, DeviceGetMigMode=refused, DeviceGetComputeRunningProcesses=refused
    )
    assert (found.mig, found.processes, found.xids) == (None, (), None)
    assert set(found.unread) == {"MIG", "processes", "Xid errors"}


def test_clocks_that_new_drivers_no_longer_tell_are_no_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The reasons for the clocks say as much, so that a good host has no warning for ever."""
    gone = NVMLError("deprecated")
    found = read(
        monkeypatch, DeviceGetApplicationsClock=gone, DeviceGetDefaultApplicationsClock=gone
    )
    assert (found.set_mhz, found.default_mhz, found.unread) == (None, None, ())


def test_processes_are_those_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Computing and drawing processes are counted once, this one is not."""
    monkeypatch.setattr("os.getpid", lambda: 11)
    found = read(
        monkeypatch,
        DeviceGetComputeRunningProcesses=[SimpleNamespace(pid=n) for n in (1, 11)],
        DeviceGetGraphicsRunningProcesses=[SimpleNamespace(pid=n) for n in (1, 2**30)],
    )
    (first, other) = found.processes
    assert first.pid == 1
    assert first.name
    assert other == Process(2**30)


def test_load_is_the_lowest_of_several_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A card that was only just woken is not taken for busy."""
    looks = iter([90, 30, 0])
    rates = lambda _: SimpleNamespace(gpu=next(looks))  # noqa: E731
    assert read(monkeypatch, DeviceGetUtilizationRates=rates).busy_percent == 0


@pytest.mark.parametrize("rows", [(0, 0, 1, 0), (0, 0, 0, 1)])
def test_rows_that_wait_for_repair(monkeypatch: pytest.MonkeyPatch, rows: tuple[int, ...]) -> None:
    """A pending repair and one that failed are both told; repaired rows are none."""
    assert read(monkeypatch, DeviceGetRemappedRows=rows).repair is True
    assert read(monkeypatch, DeviceGetRemappedRows=(4, 2, 0, 0)).repair is False


def test_the_card_is_that_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's device 0 need not be NVML's first card, and may be a part of one."""

    def by_uuid(uuid: str) -> Any:
        return {"GPU-a": "card a", "MIG-b": "part b"}.get(uuid, NVMLError("not found"))

    names = {"card a": "A", "whole b": "B", "first": "F"}
    install(
        monkeypatch,
        DeviceGetHandleByUUID=by_uuid,
        DeviceGetDeviceHandleFromMigDeviceHandle={"part b": "whole b"}.get,
        DeviceGetName=names.get,
    )
    found = [load_card(uuid, "")[0] for uuid in ("a", "b", "")]
    assert [c and c.name for c in found] == ["A", "B", "F"]


def test_without_pynvml_there_is_one_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python without it is no traceback."""
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert load_card("", "") == (None, "pynvml cannot be imported")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"DeviceGetCount": NVMLError("Driver Not Loaded")}, "NVML fails: Driver Not Loaded"),
        ({"DeviceGetCount": 0}, "NVML shows no GPU"),
    ],
)
def test_an_nvml_that_fails_is_one_reason(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], told: str
) -> None:
    """Its own words are the reason, and it is closed."""
    nvml = install(monkeypatch, **changes)
    assert load_card("", "") == (None, told)
    assert nvml.open == 0


def test_xids_are_those_of_the_card() -> None:
    """Lines of other cards and other messages are left out; a number stands once."""
    log = (
        "[1.0] NVRM: Xid (PCI:0000:19:00): 79, pid=1, GPU has fallen off the bus.\n"
        "[2.0] NVRM: Xid (PCI:0000:19:00): 79, pid=2, name=x\n"
        "[3.0] NVRM: Xid (PCI:0000:1a:00): 48, pid=3\n"
        "[4.0] NVRM: Xid (PCI:0000:19:00): 13, pid=4\n"
        "[5.0] eth0: link up\n"
    )
    assert parse_xids(log, "00000000:19:00.0") == (13, 79)
    assert parse_xids(log, "00000000:1A:00.0") == (48,)


def fake_torch(*, cuda: str | None, sees: bool) -> Any:
    properties = SimpleNamespace(uuid="12-34")
    asked = SimpleNamespace(is_available=lambda: sees, get_device_properties=lambda _: properties)
    return SimpleNamespace(__version__="2.11.0", version=SimpleNamespace(cuda=cuda), cuda=asked)


@pytest.mark.parametrize(
    ("torch", "facts"),
    [
        (fake_torch(cuda="13.0", sees=True), Torch("2.11.0", "13.0", "12-34")),
        (fake_torch(cuda="13.0", sees=False), Torch("2.11.0", "13.0")),
        (fake_torch(cuda=None, sees=False), Torch("2.11.0")),
    ],
)
def test_torch_says_what_it_sees(monkeypatch: pytest.MonkeyPatch, torch: Any, facts: Torch) -> None:
    """Version, CUDA and the card, as far as there are any."""
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert torch_facts() == facts


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (None, "torch is not installed"),
        ("raise OSError('libcudart.so.13: no\\nsuch file')", "OSError: libcudart.so.13: no"),
        ("raise ImportError('numpy is too old')", "ImportError: numpy is too old"),
    ],
)
def test_a_torch_that_cannot_be_imported_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str | None, told: str
) -> None:
    """Missing and broken are told apart."""
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    if code is None:
        monkeypatch.setitem(sys.modules, "torch", None)
    else:
        (tmp_path / "torch.py").write_text(code)
        monkeypatch.syspath_prepend(tmp_path)
    problem = torch_facts().problem
    assert problem in {told, f"torch cannot be imported: {told}"}


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (subprocess.CompletedProcess((), -11, "", ""), "torch ends with -11: no message"),
        (
            subprocess.CompletedProcess((), 1, "", "a\nlast words\n"),
            "torch ends with 1: last words",
        ),
        (subprocess.TimeoutExpired("torch", 300), "torch does not answer within 300 s"),
    ],
)
def test_a_torch_that_crashes_or_hangs_is_one_line(
    monkeypatch: pytest.MonkeyPatch, done: Any, told: str
) -> None:
    """torch is asked in another process: what happens to it does not happen to the doctor."""

    def run(*_: Any, **__: Any) -> Any:
        if isinstance(done, Exception):
            raise done
        return done

    monkeypatch.setattr(subprocess, "run", run)
    assert probe._load_torch() == Torch(problem=told)


def test_torch_is_asked_in_a_process_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The interpreter's torch answers, whatever its import prints."""
    (tmp_path / "torch.py").write_text(
        "from types import SimpleNamespace as S\n"
        "print('hello from a library')\n"
        "__version__ = '2.11.0'\n"
        "version = S(cuda='13.0')\n"
        "card = S(uuid='12-34')\n"
        "cuda = S(is_available=lambda: True, get_device_properties=lambda number: card)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert probe._load_torch() == Torch("2.11.0", "13.0", "12-34")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a PATH that holds nothing, on a host without NVML or torch."""
    monkeypatch.setattr(probe, "_load_torch", lambda: Torch(problem="torch is not installed"))
    monkeypatch.setitem(sys.modules, "pynvml", None)
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    return programs


def test_a_bare_host_is_read(bare: Path) -> None:
    """Without any program there are no versions, and nothing is raised."""
    host = probe.load_host((), None, None)
    assert bare.exists()
    assert (host.card, host.nvml_problem) == (None, "pynvml cannot be imported")
    assert (host.nvcc, host.has_ninja, host.compiles) == ("", False, True)
    assert (host.wheels, host.stacks) == ("", ())
    assert host.free_bytes > 0
    assert host.python == sys.version_info[:2]


def test_programs_are_found_on_path(bare: Path) -> None:
    """The compiler's version comes from what it prints."""
    for name, says in (("nvcc", "Cuda compilation tools, release 13.0, V13.0.88"), ("ninja", "")):
        (bare / name).write_text(f"#!/bin/sh\necho '{says}'\n")
        (bare / name).chmod(0o755)
    host = probe.load_host((), None, None)
    assert (host.nvcc, host.has_ninja) == ("13.0.88", True)


@pytest.mark.usefixtures("bare")
def test_wheels_of_a_stack_are_looked_for(tmp_path: Path) -> None:
    """A pin is missing if the folder holds none of its wheels."""
    wanted = stack("v1", pins={"flashinfer-python": "1", "fa3-fwd": "2"})
    (tmp_path / "flashinfer_python-1-py3-none-any.whl").touch()
    host = probe.load_host((wanted,), tmp_path, None)
    assert (host.wheels, host.wheel_count) == (str(tmp_path), 1)
    assert host.stacks == (StackNeeds("v1", {}, ("fa3-fwd 2",)),)


@pytest.mark.usefixtures("bare")
def test_prebuilt_modules_need_no_compiler(tmp_path: Path) -> None:
    """Only if the folder has them for every FlashInfer that is measured."""
    first, second, other = stack("v1"), stack("v2"), stack("v3", pins={"fa3-fwd": "2"})
    (tmp_path / "1" / "decode").mkdir(parents=True)
    (tmp_path / "1" / "decode" / "decode.so").touch()
    measured = ((), (first,), (first, second), (first, other))
    compiles = [probe.load_host(stacks, None, tmp_path).compiles for stacks in measured]
    assert compiles == [False, False, True, False]
    assert probe.load_host((other,), None, None).compiles is False
    assert probe.load_host((), None, tmp_path / "nosuch").compiles is True
