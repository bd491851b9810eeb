"""Made-up hosts for tests of the doctor: one that is fit, and changes to it."""

from dataclasses import replace
from typing import Any

from benchmarks.doctor.snapshot import Card, Host, Torch

FIT_CARD = Card(
    name="NVIDIA H200",
    driver="580.65.06",
    driver_cuda=13,
    capability=(9, 0),
    used_bytes=600 << 20,
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
)
FIT = Host(
    python=(3, 12),
    has_device_files=True,
    torch=Torch("2.11.0", "13.0", "12-34"),
    card=FIT_CARD,
    nvml_problem="",
    nvcc="13.0.88",
    has_ninja=True,
    compiles=True,
    place="/data",
    free_bytes=100 << 30,
)
NO_GPU = replace(
    FIT,
    has_device_files=False,
    torch=Torch(problem="torch is not installed"),
    card=None,
    nvml_problem="pynvml cannot be imported",
    nvcc="",
    has_ninja=False,
)


def with_card(**changes: Any) -> Host:
    return replace(FIT, card=replace(FIT_CARD, **changes))
