"""The doctor as a program, on hosts whose NVML, torch and compiler are made up."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

NVML = """
from types import SimpleNamespace

class NVMLError(Exception): pass

NVML_CLOCK_SM = NVML_MEMORY_ERROR_TYPE_UNCORRECTED = NVML_VOLATILE_ECC = 0
_ANSWERS = {
    "SystemGetCudaDriverVersion": 13000,
    "SystemGetDriverVersion": "580.65.06",
    "DeviceGetName": "NVIDIA H200",
    "DeviceGetCudaComputeCapability": (9, 0),
    "DeviceGetComputeRunningProcesses": [SimpleNamespace(pid=pid) for pid in PIDS],
    "DeviceGetGraphicsRunningProcesses": [],
    "DeviceGetMemoryInfo": SimpleNamespace(used=5),
    "DeviceGetUtilizationRates": SimpleNamespace(gpu=0),
    "DeviceGetRemappedRows": (0, 0, 0, 0),
    "DeviceGetPciInfo": SimpleNamespace(busId="00000000:19:00.0"),
    "DeviceGetCurrentClocksThrottleReasons": 1,
    "DeviceGetEnforcedPowerLimit": 700000,
    "DeviceGetPowerManagementDefaultLimit": 700000,
    "DeviceGetApplicationsClock": 1980,
    "DeviceGetDefaultApplicationsClock": 1980,
    "DeviceGetMigMode": [0, 0],
    "DeviceGetPersistenceMode": 1,
    "DeviceGetTotalEccErrors": 0,
}

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return lambda *_: _ANSWERS.get(name.removeprefix("nvml"), 1)
"""
"""An NVML with one card and the processes PIDS on it."""
TORCH = """
from types import SimpleNamespace
__version__ = "2.11.0"
version = SimpleNamespace(cuda="13.0")
cuda = SimpleNamespace(
    is_available=lambda: True, get_device_properties=lambda _: SimpleNamespace(uuid="12-34")
)
"""
BUSY = "error busy: on the GPU: a process (999999999); end it, wait for it, or choose another GPU"
NO_NVCC = "error nvcc: no nvcc on PATH; install the CUDA toolkit and put nvcc on PATH, or prebuild"
FIT = "fit to measure: NVIDIA H200, driver 580.65.06, torch 2.11.0"


@pytest.mark.parametrize(
    ("pids", "programs", "code", "told"),
    [
        ([], ("nvcc", "ninja", "dmesg"), 0, [FIT]),
        ([999_999_999], ("nvcc", "ninja", "dmesg"), 1, [BUSY]),
        ([], ("ninja", "dmesg"), 1, [NO_NVCC]),
        ([999_999_999], ("ninja", "dmesg"), 1, [NO_NVCC, BUSY]),
    ],
    ids=["fit", "busy", "no-nvcc", "both"],
)
def test_the_program_says_a_line_a_fault(
    pids: list[int], programs: tuple[str, ...], code: int, told: list[str], tmp_path: Path
) -> None:
    """What is wrong is a line each on stdout, the code says it, and the JSON file is written."""
    modules, path, report = tmp_path / "modules", tmp_path / "bin", tmp_path / "out" / "doctor.json"
    for folder in (modules, path):
        folder.mkdir()
    (modules / "pynvml.py").write_text(f"PIDS = {pids}\n{NVML}")
    (modules / "torch.py").write_text(TORCH)
    for name in programs:
        (path / name).write_text("#!/bin/sh\necho 'release 13.0, V13.0.88'\n")
        (path / name).chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "doctor", "--json", str(report)],
        env={**os.environ, "PYTHONPATH": str(modules), "PATH": str(path), "ATTN_MODULES": ""},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    lines = done.stdout.splitlines()
    assert (done.returncode, len(lines), done.stderr) == (code, len(told), "")
    assert all(line.startswith(start) for line, start in zip(lines, told, strict=True)), lines
    written = json.loads(report.read_text(encoding="utf-8"))
    assert written["fit"] is (code == 0)
    assert len(written["findings"]) == len([start for start in told if start != FIT])
