"""The plan file of a stage: what `regress` wants measured next, and `benchmarks` measures.

Decisions are made between stages, on round files; within a stage nothing is decided.
"""

from pathlib import Path
from typing import Annotated, Final

import msgspec

from workloads.record import Case

__all__ = ["BACKFILL", "STAGE_SCHEMA", "StagePlan", "load_stage", "write_stage"]

STAGE_SCHEMA: Final = 1
BACKFILL: Final = "backfill-"
"""What the names of a backfill's stages begin with; the number of the group follows. A group ends
where the time does, and the next backfill fills what it lacks."""

_Number = Annotated[int, msgspec.Meta(ge=1)]


class StagePlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Blocks of interleaved rounds over the same cases.

    Attributes
    ----------
    schema
        Counts incompatible changes of this layout.
    run, stage, stacks, blocks
        As in `workloads.record.Design`; every round carries them.
    todo
        Numbers of the blocks to measure now; the others were measured before.
    campaign
        The stretch of measuring that these rounds belong to.
    tier
        Goes into the record: a tier of the catalog if `cases` is all of it, else `custom`.
    cases
        What every round measures.
    directory
        Where round files go.
    machine
        The user's name for this machine; None to make one from the GPU model.
    mixed
        Whether all rounds come in one random order, so that the stacks' labels are exchangeable
        by design. Otherwise block follows block, each in random order, so that what is broken off
        leaves whole blocks.
    """

    run: str
    stage: str
    stacks: tuple[str, ...]
    blocks: _Number
    todo: tuple[_Number, ...]
    campaign: str
    tier: str
    cases: tuple[Case, ...]
    directory: str
    machine: str | None = None
    mixed: bool = False
    schema: int = STAGE_SCHEMA


def write_stage(plan: StagePlan, path: Path) -> None:
    """Write a plan as JSON."""
    path.write_bytes(msgspec.json.encode(plan, order="deterministic"))


def load_stage(path: Path) -> StagePlan:
    """Read a plan.

    Raises
    ------
    ValueError
        If the file cannot be read, is no plan or is one of another schema; the message says so.
    """
    try:
        plan = msgspec.json.decode(path.read_bytes(), type=StagePlan)
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        msg = f"{path} is no plan of a stage: {error}"
        raise ValueError(msg) from error
    if plan.schema != STAGE_SCHEMA:
        msg = f"{path} is a plan of schema {plan.schema}, this checkout reads {STAGE_SCHEMA}"
        raise ValueError(msg)
    if not plan.stacks or not plan.cases or max(plan.todo, default=0) > plan.blocks:
        msg = f"{path} plans no stacks, no cases, or blocks beyond the last one"
        raise ValueError(msg)
    return plan
