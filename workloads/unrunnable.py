"""The note that a stack cannot be measured on a machine: `benchmarks` writes it beside rounds."""

from typing import Final

import msgspec

__all__ = ["UNRUNNABLE_FILE", "Unrunnable"]

UNRUNNABLE_FILE: Final = "unrunnable.json"
"""In the folder of a machine's rounds of a stack; removed when a round of it is measured."""


class Unrunnable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why there are no rounds of a stack.

    Attributes
    ----------
    tag, digest
        The stack.
    machine
        Name of the machine.
    reason
        One line: what could not be installed, imported or measured.
    noted_at
        UTC, ISO 8601.
    """

    tag: str
    digest: str
    machine: str
    reason: str
    noted_at: str
