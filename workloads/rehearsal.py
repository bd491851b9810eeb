"""Rehearsals: a script says what every case does, and nothing is measured."""

import os
from typing import Final

__all__ = ["REHEARSAL", "SCRIPT_VARIABLE", "rehearsing"]

SCRIPT_VARIABLE: Final = "ATTN_SCRIPT"
"""Environment variable that names the script."""
REHEARSAL: Final = "rehearsal"
"""Name of the machine of rounds that a script decided: no measured round bears it."""


def rehearsing() -> bool:
    """Whether a script says what every case does."""
    return bool(os.environ.get(SCRIPT_VARIABLE))
