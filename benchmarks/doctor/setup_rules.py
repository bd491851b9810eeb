"""Rules about software and space: what must be there before anything can be measured."""

from collections.abc import Iterator
from typing import Final

from benchmarks.doctor.rule import Rule, Severity
from benchmarks.doctor.snapshot import Host

__all__ = ["GPU", "SETUP_RULES"]

_OLDEST: Final = (3, 11)
_NEWEST: Final = (3, 13)
_GIB: Final = 1 << 30
_LEAST_FREE_GIB: Final = 2


def _gpu(host: Host) -> Iterator[str]:
    if not (host.card or host.torch.gpu_uuid or host.has_device_files):
        yield "neither the driver nor torch shows an NVIDIA GPU"


def _python(host: Host) -> Iterator[str]:
    if not _OLDEST <= host.python <= _NEWEST:
        yield "this is Python {}.{}".format(*host.python)


def _nvml(host: Host) -> Iterator[str]:
    if host.nvml_problem:
        yield host.nvml_problem


def _torch(host: Host) -> Iterator[str]:
    if host.torch.problem:
        yield host.torch.problem
    elif not host.torch.cuda:
        yield f"torch {host.torch.version} is built without CUDA"


def _driver(host: Host) -> Iterator[str]:
    card, cuda = host.card, host.torch.cuda
    if card and card.driver_cuda is not None and cuda and _major(cuda) > card.driver_cuda:
        yield (
            f"driver {card.driver} runs CUDA up to {card.driver_cuda}, "
            f"torch {host.torch.version} is built for CUDA {cuda}"
        )


def _torch_blind(host: Host) -> Iterator[str]:
    torch = host.torch
    blind = torch.cuda and not torch.problem and not torch.gpu_uuid
    if blind and not any(_driver(host)):
        yield f"torch {torch.version} sees no GPU, though one is there"


def _stack_cuda(host: Host) -> Iterator[str]:
    for stack in host.stacks:
        for name, major in stack.cuda.items():
            if host.torch.cuda and str(_major(host.torch.cuda)) != major:
                yield (
                    f"{stack.tag} pins {name} with GPU code for CUDA {major}, "
                    f"torch is built for CUDA {host.torch.cuda}"
                )


def _nvcc(host: Host) -> Iterator[str]:
    if host.compiles and not host.nvcc:
        yield "no nvcc on PATH"


def _nvcc_cuda(host: Host) -> Iterator[str]:
    both = host.compiles and host.nvcc and host.torch.cuda
    if both and _major(host.nvcc) != _major(host.torch.cuda):
        yield f"nvcc is {host.nvcc}, torch is built for CUDA {host.torch.cuda}"


def _ninja(host: Host) -> Iterator[str]:
    if host.compiles and not host.has_ninja:
        yield "no ninja on PATH"


def _wheels(host: Host) -> Iterator[str]:
    if host.wheels and not host.wheel_count:
        yield f"there are no wheels in {host.wheels}"
        return
    for stack in host.stacks:
        if stack.missing_wheels:
            yield f"{host.wheels} lacks {', '.join(stack.missing_wheels)} of {stack.tag}"


def _disk(host: Host) -> Iterator[str]:
    if host.free_bytes < _LEAST_FREE_GIB * _GIB:
        yield f"{host.free_bytes / _GIB:.1f} GiB are free at {host.place}"


def _major(version: str) -> int:
    return int(version.partition(".")[0])


GPU: Final = Rule(
    "gpu",
    Severity.ERROR,
    "No GPU",
    "Nothing of a kernel library can be measured; the other rules are not asked.",
    "run on a host with an NVIDIA GPU and its driver; in a container, pass the GPU through",
    _gpu,
)
"""Without a GPU there is one finding, not one for all that comes with a GPU."""

SETUP_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "python",
        Severity.ERROR,
        "Unsupported Python",
        "Stacks are pinned and tested for Python {}.{} to {}.{}.".format(*_OLDEST, *_NEWEST),
        "use Python {}.{} to {}.{}".format(*_OLDEST, *_NEWEST),
        _python,
    ),
    Rule(
        "nvml",
        Severity.ERROR,
        "NVML cannot be asked",
        "Nobody knows who else is on the GPU, or what its clocks do.",
        "install nvidia-ml-py beside torch, and see that `nvidia-smi` runs here",
        _nvml,
    ),
    Rule(
        "torch",
        Severity.ERROR,
        "No torch for CUDA",
        "Inputs, graphs and the reference are torch's: no case would be measured.",
        "install torch for CUDA 13 into this Python",
        _torch,
    ),
    Rule(
        "driver",
        Severity.ERROR,
        "Driver older than torch's CUDA",
        "torch cannot use the GPU.",
        "update the driver, or install a torch that is built for its CUDA version",
        _driver,
    ),
    Rule(
        "torch-blind",
        Severity.ERROR,
        "torch sees no GPU",
        "Rounds would measure the CPU.",
        "look at CUDA_VISIBLE_DEVICES, the container's GPU access and `nvidia-smi`",
        _torch_blind,
    ),
    Rule(
        "stack-cuda",
        Severity.WARNING,
        "Stack for another CUDA",
        "The library cannot be imported: its cases fail, the others are measured.",
        "measure this stack beside a torch for its CUDA version",
        _stack_cuda,
    ),
    Rule(
        "nvcc",
        Severity.ERROR,
        "No CUDA compiler",
        "FlashInfer compiles its kernels on first use: all its cases would fail.",
        "install the CUDA toolkit and put nvcc on PATH, or prebuild modules and name them by "
        "--modules or ATTN_MODULES",
        _nvcc,
    ),
    Rule(
        "nvcc-cuda",
        Severity.WARNING,
        "Compiler of another CUDA",
        "Kernels are compiled by one CUDA and run beside libraries of another; such modules may "
        "not load, and rounds are not compared across compilers.",
        "put the nvcc of torch's CUDA version first on PATH",
        _nvcc_cuda,
    ),
    Rule(
        "ninja",
        Severity.ERROR,
        "No ninja",
        "FlashInfer compiles with it: all its cases would fail.",
        "install ninja and put it on PATH, or prebuild modules and name them by --modules or "
        "ATTN_MODULES",
        _ninja,
    ),
    Rule(
        "wheels",
        Severity.ERROR,
        "Wheels are missing",
        "With a folder of wheels the package index is not asked: the environment cannot be made.",
        "fill the folder with `python -m benchmarks wheels TAG --to DIR` where there is network",
        _wheels,
    ),
    Rule(
        "disk",
        Severity.ERROR,
        "Disk nearly full",
        f"Environments and modules take space; below {_LEAST_FREE_GIB} GiB they may break off.",
        "free space there",
        _disk,
    ),
)
"""Asked in this order."""
