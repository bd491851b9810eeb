"""Which blocks of interleaved rounds are still to be measured, after a run that was broken off."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.errors import UserError
from benchmarks.rounds import is_quick, load_round, round_files
from benchmarks.stacks import Stack
from workloads.record import Design, Round
from workloads.stage import StagePlan

__all__ = ["check_pins", "continued"]

_STRETCH: Final = "~"
"""Between the id of a run and the number of its stretch of measuring, from the second on."""


def continued(plan: StagePlan, stacks: Mapping[str, Stack]) -> StagePlan:
    """Return the plan without the blocks that earlier rounds of its run have measured.

    A block counts if one campaign has a whole round of every stack in it. What is left goes into
    a campaign of its own, so that the round of a half block stays without a partner in its
    campaign. A damaged file is no round.

    Parameters
    ----------
    plan
        All blocks of a run.
    stacks
        The stack of each tag.

    Raises
    ------
    UserError
        If the run was planned with other stacks, cases or blocks, or its id is that of a stretch.
    """
    if _STRETCH in plan.run:
        whole = plan.run.partition(_STRETCH)[0]
        msg = f"{plan.run} is a later stretch of a run: to go on, give the run's id, {whole}"
        raise UserError(msg)
    rounds = list(_load_whole(Path(plan.directory)))
    blocks: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    for round_ in rounds:
        design = round_.design
        if design is None or (design.run, design.stage) != (plan.run, plan.stage):
            continue
        if not is_quick(round_):
            _check_same(round_, design, plan, stacks)
            blocks[round_.campaign, design.block].add(round_.stack.tag)
    done = {block for (_, block), tags in blocks.items() if tags == set(plan.stacks)}
    return msgspec.structs.replace(
        plan,
        todo=tuple(block for block in plan.todo if block not in done),
        campaign=_unused(plan.run, {round_.campaign for round_ in rounds}),
    )


def check_pins(plan: StagePlan, stacks: Mapping[str, Stack]) -> None:
    """Refuse to go on with a run whose stacks had other pins: no rounds are spent on it.

    Raises
    ------
    UserError
        If a round of the run was measured with other pins than its stack has now.
    """
    for round_ in _load_whole(Path(plan.directory)):
        stack = stacks.get(round_.stack.tag)
        of_run = round_.design is not None and round_.design.run == plan.run
        if of_run and stack is not None and round_.stack.digest != stack.digest:
            msg = (
                f"run {plan.run} was begun with other pins under the tag {stack.tag}: "
                "give the new stack a tag of its own, or remove the rounds of the old one"
            )
            raise UserError(msg)


def _load_whole(directory: Path) -> Iterator[Round]:
    for path in round_files(directory):
        try:
            yield load_round(path)
        except UserError:
            continue


def _unused(run: str, campaigns: set[str]) -> str:
    if run not in campaigns:
        return run
    names = (f"{run}{_STRETCH}{number}" for number in count(2))
    return next(name for name in names if name not in campaigns)


def _check_same(
    round_: Round, design: Design, plan: StagePlan, stacks: Mapping[str, Stack]
) -> None:
    tag = round_.stack.tag
    if set(design.stacks) != set(plan.stacks):
        _refuse(plan, f"stacks {_listed(design.stacks)}", _listed(plan.stacks))
    if round_.stack.digest != stacks[tag].digest:
        _refuse(plan, f"other pins under the tag {tag}", "those that it has now")
    if design.blocks != plan.blocks:
        _refuse(plan, f"{design.blocks} rounds a stack", str(plan.blocks))
    if (before := {record.case for record in round_.cases}) != set(plan.cases):
        _refuse(plan, f"{len(before)} cases", f"these {len(plan.cases)}")


def _listed(tags: Sequence[str]) -> str:
    return " ".join(sorted(tags))


def _refuse(plan: StagePlan, before: str, now: str) -> None:
    msg = (
        f"run {plan.run} was begun with {before}, not {now}: ask for the same to go on, "
        "or leave out --campaign to begin another"
    )
    raise UserError(msg)
