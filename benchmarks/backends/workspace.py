"""One scratch buffer for all FlashInfer wrappers: cases never run at the same time."""

from functools import cache
from typing import Any, Final

__all__ = ["float_workspace"]

_BYTES: Final = 512 * 2**20


@cache
def float_workspace(device: str) -> Any:
    """Return the shared float workspace, 512 MiB of uint8."""
    import torch

    return torch.zeros(_BYTES, dtype=torch.uint8, device=device)
