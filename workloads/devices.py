"""GPUs that plans are made for: what a planner or a model of time must know of a card."""

import math
from dataclasses import dataclass
from typing import Final

__all__ = ["DEVICES", "Device", "parse_device"]

_MIB: Final = 1 << 20
_AMPERE: Final = (8, 0)
_ADA: Final = (8, 9)
_HOPPER: Final = (9, 0)
_RECORDED: Final = "SMs and L2 as read on the recorded cards"
_AS_CUDA_SAYS: Final = "as CUDA reports them"
_RESELLERS: Final = "as resellers list it, NVIDIA publishes no datasheet"
_HOPPER_PAPER: Final = "NVIDIA H100 Tensor Core GPU Architecture (whitepaper)"
_AMPERE_PAPER: Final = "NVIDIA A100 Tensor Core GPU Architecture (whitepaper)"
_ADA_PAPER: Final = "NVIDIA Ada GPU Architecture (whitepaper V2.01)"
_MOST_SMS: Final = 4096
"""Far above any GPU; a simulation of more takes all memory."""


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU model, or a GPU given by numbers.

    Attributes
    ----------
    name
        Identity in lower case, e.g. `h100-sxm`.
    sms
        Streaming multiprocessors that are switched on.
    bandwidth
        Peak memory bandwidth, in bytes a second.
    l2_bytes
        L2 cache.
    capability
        CUDA compute capability, (major, minor): it decides which kernels a library picks.
    source
        Where the numbers were taken from.

    Raises
    ------
    ValueError
        If a number is not positive and finite, or no GPU has as many SMs.
    """

    name: str
    sms: int
    bandwidth: float
    l2_bytes: int
    capability: tuple[int, int]
    source: str

    def __post_init__(self) -> None:
        for name in ("sms", "bandwidth", "l2_bytes"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 1):
                msg = f"a device's {name} must be a number from 1, not {value:g}"
                raise ValueError(msg)
        if self.sms > _MOST_SMS:
            msg = f"a device has at most {_MOST_SMS:,} SMs, not {self.sms:,}"
            raise ValueError(msg)

    @property
    def hopper(self) -> bool:
        """Whether kernels for compute capability 9.0 (fa3) run here."""
        return self.capability == _HOPPER


DEVICES: Final[tuple[Device, ...]] = (
    Device("h200", 132, 4.8e12, 60 * _MIB, _HOPPER, f"{_RECORDED}; NVIDIA H200 datasheet"),
    Device("h100-sxm", 132, 3.35e12, 50 * _MIB, _HOPPER, f"{_HOPPER_PAPER}; H100 datasheet"),
    Device("h100-pcie", 114, 2.0e12, 50 * _MIB, _HOPPER, f"{_HOPPER_PAPER}; H100 datasheet"),
    Device("h20", 78, 4.0e12, 60 * _MIB, _HOPPER, f"SMs {_AS_CUDA_SAYS}; rest {_RESELLERS}"),
    Device("a100-40gb", 108, 1.555e12, 40 * _MIB, _AMPERE, _AMPERE_PAPER),
    Device("a100-80gb", 108, 2.039e12, 40 * _MIB, _AMPERE, f"{_AMPERE_PAPER}; 80GB SXM datasheet"),
    Device("a800-80gb", 108, 2.039e12, 40 * _MIB, _AMPERE, f"{_RESELLERS}: A100, slower NVLink"),
    Device(
        "l40s", 142, 864e9, 96 * _MIB, _ADA, f"NVIDIA L40S datasheet; L2 as L40's, {_ADA_PAPER}"
    ),
    Device("l20", 92, 864e9, 96 * _MIB, _ADA, _RESELLERS),
    Device("rtx-4090", 128, 1.008e12, 72 * _MIB, _ADA, _ADA_PAPER),
    Device("b200", 148, 8.0e12, 126 * _MIB, (10, 0), f"SMs, L2 {_AS_CUDA_SAYS}; B200 datasheet"),
)

_BY_NAME: Final = {device.name: device for device in DEVICES}
_ALIASES: Final = {"h100": "h100-sxm", "a100": "a100-80gb", "a800": "a800-80gb", "4090": "rtx-4090"}
_NUMBERS: Final = ("sms", "bandwidth", "l2")


def parse_device(text: str) -> Device:
    """Return the device of this name, or one given by numbers.

    Parameters
    ----------
    text
        `h20`, or `sms=78,bandwidth=4.0e12,l2=60e6` (bytes a second, bytes), to which
        `capability=9.0` may be added; without it a Hopper GPU is meant.

    Raises
    ------
    ValueError
        If it is neither; the message says what is.
    """
    if "=" in text:
        return _by_numbers(text)
    name = text.strip().lower().replace("_", "-").replace(" ", "-").removeprefix("nvidia-")
    name = _ALIASES.get(name, name)
    if name not in _BY_NAME:
        msg = (
            f"unknown device {text!r}: use {', '.join(_BY_NAME)}, "
            "or numbers (sms=78,bandwidth=4.0e12,l2=60e6)"
        )
        raise ValueError(msg)
    return _BY_NAME[name]


def _by_numbers(text: str) -> Device:
    pairs = [part.strip().partition("=") for part in text.split(",")]
    given = {key.strip(): value.strip() for key, _, value in pairs}
    capability = given.pop("capability", "9.0")
    if len(pairs) != len({key.strip() for key, _, _ in pairs}) or set(given) != set(_NUMBERS):
        msg = f"a device by numbers wants {', '.join(_NUMBERS)} once each, not {text!r}"
        raise ValueError(msg)
    return Device(
        name="custom",
        sms=int(_number("sms", given["sms"])),
        bandwidth=_number("bandwidth", given["bandwidth"]),
        l2_bytes=int(_number("l2", given["l2"])),
        capability=_capability(capability),
        source="given by numbers",
    )


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or (name == "sms" and value != int(value)):
        kind = "a whole number" if name == "sms" else "a number"
        msg = f"a device's {name} must be {kind}, not {text!r}"
        raise ValueError(msg)
    return value


def _capability(text: str) -> tuple[int, int]:
    major, dot, minor = text.partition(".")
    if not (dot and major.isdecimal() and minor.isdecimal()):
        msg = f"a device's capability looks like 9.0, not {text!r}"
        raise ValueError(msg)
    return int(major), int(minor)
