"""A campaign: rounds of one or more stacks, interleaved, each in a fresh watched process.

A case that kills or hangs its process is quarantined and the round redone without it.
"""

import random
import re
import secrets
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.errors import UserError
from benchmarks.paths import ROUNDS
from benchmarks.plan import KV_MEMORY_GIB, Quarantined, RoundPlan
from benchmarks.process import Ahead, Ending, Limits, Turn
from benchmarks.progress import Progress
from benchmarks.round import DEAD_EXIT, WRONG_STACK_EXIT
from benchmarks.stacks import Stack, expected_versions
from workloads.record import Case, Design

__all__ = [
    "Limits",
    "Options",
    "campaign_id",
    "interleave",
    "measure_round",
    "measure_turn",
    "round_plan",
]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""A folder is called so."""


@dataclass(frozen=True, slots=True)
class Options:
    """How the rounds of a campaign are measured.

    Attributes
    ----------
    tier, campaign
        Go into the record.
    directory
        Where round files go.
    machine
        The user's name for this machine; None to make one from the GPU model.
    quick
        Measure only so much as to see that everything runs.
    kv_memory_gib
        Bound on the memory for the KV cache.
    limits
        When a process counts as hung.
    design
        What the round is a part of, goes into the record; None for a single round.
    """

    tier: str
    campaign: str
    directory: Path = ROUNDS
    machine: str | None = None
    quick: bool = False
    kv_memory_gib: float = KV_MEMORY_GIB
    limits: Limits = field(default_factory=Limits)
    design: Design | None = None


def campaign_id() -> str:
    """Return a new campaign's id: when it began, and something unique."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


def interleave(
    tags: Sequence[str], blocks: Sequence[int], draws: random.Random, *, mixed: bool = False
) -> list[tuple[int, str]]:
    """Return block and tag of each round: every block holds every tag once.

    Block follows block, each in random order, or all of them `mixed`.
    """
    order: list[tuple[int, str]] = []
    for block in blocks:
        shuffled = [(block, tag) for tag in tags]
        draws.shuffle(shuffled)
        order += shuffled
    if mixed:
        draws.shuffle(order)
    return order


def measure_round(
    stack: Stack,
    cases: Sequence[Case],
    options: Options,
    python: Path,
    watch: Callable[[Progress], None] = lambda _: None,
) -> Path:
    """Measure one round of a stack and return its file.

    Parameters
    ----------
    python
        Interpreter of the stack's environment.
    watch
        Called with every step of progress.

    Raises
    ------
    UserError
        If the process cannot measure this stack at all, or the machine's name is unfit.
    """
    turn = Turn(round_plan(stack, cases, options), python)
    with Ahead() as ahead:
        return measure_turn(turn, options.limits, watch, ahead)


def round_plan(stack: Stack, cases: Sequence[Case], options: Options) -> RoundPlan:
    """Return what a round's process is told.

    Raises
    ------
    UserError
        If the machine's name is unfit.
    """
    if options.machine and not _NAME.fullmatch(options.machine):
        msg = f"{options.machine!r} cannot name a machine: use letters, digits and . _ -"
        raise UserError(msg)
    return RoundPlan(
        tag=stack.tag,
        digest=stack.digest,
        expected=expected_versions(stack),
        cases=tuple(cases),
        tier=options.tier,
        campaign=options.campaign,
        directory=str(options.directory.resolve()),
        machine=options.machine,
        quick=options.quick,
        kv_memory_gib=options.kv_memory_gib,
        design=options.design,
    )


def measure_turn(
    turn: Turn,
    limits: Limits,
    watch: Callable[[Progress], None],
    ahead: Ahead,
    following: Turn | None = None,
) -> Path:
    """Measure a turn of a campaign and return the round's file.

    Parameters
    ----------
    limits
        When a process counts as hung.
    watch
        Called with every step of progress.
    ahead
        Where this turn's process may wait, and that of the next one is started.
    following
        The next turn: its process is started as soon as this one measures, and imports its
        libraries meanwhile. None if it is not to.

    Raises
    ------
    UserError
        If the process cannot measure this stack at all.
    """

    def start_next(step: Progress) -> None:
        watch(step)
        if following is not None and step.stage == "measure":
            ahead.start(following)

    plan = turn.plan
    # Each try ends the round, or gives up one case or the view.
    for _ in range(len(plan.cases) + 2):
        ending = ahead.take(Turn(plan, turn.python)).follow(limits, start_next)
        if ending.last.file:
            # It is whole, however the process ended afterwards.
            return Path(ending.last.file)
        plan = _next_plan(plan, ending)
    msg = f"{plan.tag} cannot be measured: no round even with every case left out"
    raise UserError(msg)


def _next_plan(plan: RoundPlan, ending: Ending) -> RoundPlan:
    """Return the plan without what spoilt this try."""
    if ending.last.stage == "view":
        # All was measured before: only the cross-check is given up.
        return msgspec.structs.replace(plan, view=False)
    lines = [line.strip() for line in ending.log.splitlines() if line.strip()]
    told = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    if ending.code in {WRONG_STACK_EXIT, DEAD_EXIT} and told:
        reason = told[-1]
    else:
        reason = ending.hung or _cause(ending.code, lines)
    if ending.last.case is None or ending.code == WRONG_STACK_EXIT:
        msg = f"{plan.tag} cannot be measured: {reason}"
        raise UserError(msg)
    lost = Quarantined(ending.last.case, reason)
    return msgspec.structs.replace(plan, quarantine=(*plan.quarantine, lost))


def _cause(code: int, lines: Sequence[str]) -> str:
    said = f"; it last said: {lines[-1][:300]}" if lines else ""
    if code < 0:
        name = next((s.name for s in signal.Signals if s == -code), f"signal {-code}")
        return f"killed its process with {name}{said}"
    return f"ended its process with exit code {code}{said}"
