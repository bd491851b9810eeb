"""What the doctor knows of a host: read once, then handed to rules, which do no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Card", "Host", "Process", "StackNeeds", "Torch"]


@dataclass(frozen=True, slots=True)
class Process:
    """A process of somebody else on the card; `name` is empty where it cannot be read."""

    pid: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Torch:
    """What the torch of this interpreter says of itself, asked in a process of its own.

    Attributes
    ----------
    version
        Empty if it cannot be imported.
    cuda
        CUDA version it was built for, empty for a build without CUDA.
    gpu_uuid
        Its device 0 without the prefix `GPU-`, empty if it sees none.
    problem
        Why it cannot be imported or does not answer, in one line.
    """

    version: str = ""
    cuda: str = ""
    gpu_uuid: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """One GPU as NVML describes it; None is what NVML does not answer.

    Attributes
    ----------
    name
        Model.
    driver
        Version of the driver.
    driver_cuda
        Newest major CUDA version that the driver runs.
    capability
        CUDA compute capability, (major, minor).
    processes
        Processes on it, but for this one.
    used_bytes
        Memory in use by anybody.
    busy_percent
        Share of the last moments in which a kernel ran.
    throttle
        NVML's mask of reasons that hold the clocks back.
    power_cap_w, power_default_w
        Power cap in force, and that of a new card.
    set_mhz, default_mhz
        SM clock that applications are given, and that of a new card.
    mig, persistence
        Whether these modes are on.
    ecc_errors
        Errors that ECC could not correct since the driver was loaded.
    repair
        Whether rows of memory wait for repair or could not be repaired.
    xids
        Xid errors of this card in the kernel's log; None where it cannot be read.
    unread
        What NVML did not answer, in words.
    """

    name: str
    driver: str = ""
    driver_cuda: int | None = None
    capability: tuple[int, int] | None = None
    processes: tuple[Process, ...] = ()
    used_bytes: int | None = None
    busy_percent: int | None = None
    throttle: int | None = None
    power_cap_w: float | None = None
    power_default_w: float | None = None
    set_mhz: int | None = None
    default_mhz: int | None = None
    mig: bool | None = None
    persistence: bool | None = None
    ecc_errors: int | None = None
    repair: bool | None = None
    xids: tuple[int, ...] | None = None
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StackNeeds:
    """What one stack asks of the host.

    Attributes
    ----------
    tag
        The stack.
    cuda
        Major CUDA version of each pin that brings prebuilt GPU code.
    missing_wheels
        Pins of which the folder of wheels holds none; empty without a folder.
    """

    tag: str
    cuda: Mapping[str, str] = field(default_factory=dict)
    missing_wheels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Host:
    """A host as the doctor found it.

    Attributes
    ----------
    python
        Version, (major, minor).
    has_device_files
        Whether the driver shows a GPU to the operating system.
    torch
        See `Torch`.
    card
        The card that would be measured; None if NVML shows none.
    nvml_problem
        Why NVML cannot be asked, empty if it can.
    nvcc
        Version of the CUDA compiler on PATH, empty for none.
    has_ninja
        Whether ninja is on PATH.
    compiles
        Whether FlashInfer has to compile, as modules are not prebuilt for all that is measured.
    wheels, wheel_count
        Folder of wheels, empty for none, and how many it holds.
    place, free_bytes
        Where environments and rounds are kept, and the space left there.
    stacks
        Those that are to be measured, as far as they were named.
    """

    python: tuple[int, int]
    has_device_files: bool
    torch: Torch
    card: Card | None
    nvml_problem: str
    nvcc: str
    has_ninja: bool
    compiles: bool
    place: str
    free_bytes: int
    wheels: str = ""
    wheel_count: int = 0
    stacks: tuple[StackNeeds, ...] = ()
