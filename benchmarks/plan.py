"""The plan file: what one round is to measure, handed to the fresh process that measures it."""

from pathlib import Path

import msgspec

from benchmarks.errors import UserError
from workloads.record import Case

__all__ = ["Quarantined", "RoundPlan", "load_plan", "write_plan"]


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
    kv_memory_gib: float = 20.0
    quarantine: tuple[Quarantined, ...] = ()


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
