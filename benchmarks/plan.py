"""The plan file: what one round is to measure, handed to the fresh process that measures it."""

from math import isfinite
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.errors import UserError
from workloads.record import Case, Design

__all__ = ["KV_MEMORY_GIB", "Quarantined", "RoundPlan", "load_plan", "parse_gib", "write_plan"]

KV_MEMORY_GIB: Final = 20.0
"""Bound on the KV cache's memory: the whole catalog fits, on a card of 80 GB."""


class Quarantined(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A case that killed or hung an earlier try of this round.

    Attributes
    ----------
    reason
        What it did.
    """

    case: Case
    reason: str


class RoundPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything the measuring process needs to know.

    Attributes
    ----------
    tag, digest
        The stack.
    expected
        Pinned version of each distribution, asserted before anything is measured.
    cases
        What to measure.
    tier, campaign
        Go into the record.
    directory
        Where the round file goes.
    machine
        The user's name for this machine; None to make one from the GPU model.
    quick
        Measure only so much as to see that everything runs.
    kv_memory_gib
        Bound on the memory for the KV cache, in GiB.
    quarantine
        Cases to leave out, each with its reason.
    view
        Whether to take CUPTI's view of every launch at the end.
    design
        What this round is a part of, goes into the record; None for a single round.
    """

    tag: str
    digest: str
    expected: dict[str, str]
    cases: tuple[Case, ...]
    tier: str
    campaign: str
    directory: str
    machine: str | None = None
    quick: bool = False
    kv_memory_gib: float = KV_MEMORY_GIB
    quarantine: tuple[Quarantined, ...] = ()
    view: bool = True
    design: Design | None = None


def write_plan(plan: RoundPlan, path: Path) -> None:
    """Write the plan as JSON."""
    path.write_bytes(msgspec.json.encode(plan))


def load_plan(path: Path) -> RoundPlan:
    """Read a plan file.

    Raises
    ------
    UserError
        If it cannot be read or is no plan.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=RoundPlan)
    except (OSError, msgspec.MsgspecError) as error:
        msg = f"{path} is no plan: {error}"
        raise UserError(msg) from error


def parse_gib(text: str) -> float:
    """Return an amount of memory in GiB.

    Raises
    ------
    ValueError
        If the text is no positive number.
    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not isfinite(value) or value <= 0:
        msg = f"{text!r} is no positive number of GiB"
        raise ValueError(msg)
    return value
