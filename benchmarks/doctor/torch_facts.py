"""Prints what torch says of itself; run by `benchmarks.doctor.probe` in a process of its own.

So that neither a torch that crashes nor its use of the GPU is the doctor's.
"""

import sys
import traceback

import msgspec

from benchmarks.doctor.snapshot import Torch

__all__ = ["torch_facts"]


def torch_facts() -> Torch:
    """Import torch and ask it for its device 0."""
    try:
        import torch
    except ModuleNotFoundError:
        return Torch(problem="torch is not installed")
    except Exception as error:  # noqa: BLE001 - whatever a library does when it does not fit
        told = traceback.format_exception_only(error)[-1].splitlines()[0]
        return Torch(problem=f"torch cannot be imported: {told}")
    sees = bool(torch.version.cuda) and torch.cuda.is_available()
    uuid = str(torch.cuda.get_device_properties(0).uuid) if sees else ""
    return Torch(str(torch.__version__), torch.version.cuda or "", uuid)


if __name__ == "__main__":
    sys.stdout.write(msgspec.json.encode(torch_facts()).decode())
