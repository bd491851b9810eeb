"""The commands `run` and `list`: measure interleaved rounds of stacks, and show what there is."""

import argparse
import random
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.backends.scripted import load_script
from benchmarks.campaign import Options, campaign_id, interleave, measure_turn, round_plan
from benchmarks.display import Display
from benchmarks.errors import UserError
from benchmarks.interrupt import end_with, interruptible
from benchmarks.paths import RECORDED, ROOT, ROUNDS
from benchmarks.plan import KV_MEMORY_GIB, parse_gib
from benchmarks.process import Ahead, Turn
from benchmarks.resume import check_pins, continued
from benchmarks.rounds import load_round
from benchmarks.stacks import Stack, find_stack
from benchmarks.venv import ensure_environment, existing_folder
from workloads.backend import BACKENDS
from workloads.catalog import TIERS, aliases, cases
from workloads.policy import POLICIES
from workloads.record import Case, Design, Round, Status
from workloads.rehearsal import SCRIPT_VARIABLE, rehearsing
from workloads.stage import StagePlan, load_stage

__all__ = ["add_parser", "chosen_cases", "positive", "render_round"]

_STAGE: Final = "rounds"
"""Name of the only stage of a run that the command line plans."""
_ROUNDS: Final = 5
_MOST_ROUNDS: Final = 10_000
_PLANNED: Final = ("rounds", "tier", "cells", "campaign", "record", "machine", "quick")
"""Options that a plan file stands for."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `run` and `list`."""
    run = subparsers.add_parser("run", help="measure rounds of one or more stacks, interleaved")
    run.add_argument("tags", nargs="*", metavar="TAG", help="stacks, e.g. v0.6.0 v0.6.1")
    run.add_argument("--plan", type=Path, metavar="FILE", help="measure what a plan file asks for")
    run.add_argument("--rounds", type=positive, help=f"rounds a stack (default {_ROUNDS})")
    run.add_argument("--tier", choices=TIERS, help=f"cases (default {TIERS[0]})")
    run.add_argument("--cells", metavar="REGEX", help="only cases whose slug@backend matches")
    run.add_argument("--machine", metavar="NAME", help="name of this kind of machine")
    run.add_argument("--campaign", metavar="ID", help="go on with a run that was broken off")
    run.add_argument("--quick", action="store_true", help="only see that everything runs")
    run.add_argument("--record", action="store_true", help="write where git keeps results")
    run.add_argument(
        "--wheels", type=existing_folder, metavar="DIR", help="install from this folder only"
    )
    run.add_argument(
        "--modules", type=existing_folder, metavar="DIR", help="prebuilt FlashInfer modules"
    )
    run.add_argument("--kv-memory-gib", type=_gib, default=KV_MEMORY_GIB, metavar="GIB")
    run.add_argument(
        "--no-overlap",
        dest="overlap",
        action="store_false",
        help="start a round's process only when the one before has ended",
    )
    run.add_argument("--parent", type=int, metavar="PID", help="end when this parent process ends")
    run.set_defaults(func=partial(_run, run))
    shown = subparsers.add_parser("list", help="show cases, backends or policies")
    shown.add_argument("what", choices=("cases", "backends", "policies"))
    shown.add_argument("--tier", choices=TIERS, default="sweep")
    shown.set_defaults(func=_list)


def positive(text: str) -> int:
    """Return the number that a command-line option gives.

    Raises
    ------
    argparse.ArgumentTypeError
        If it is none from 1 to 10,000.
    """
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_ROUNDS:
        msg = f"{text!r} is no number from 1 to {_MOST_ROUNDS}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _gib(text: str) -> float:
    try:
        return parse_gib(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def chosen_cases(tier: str, pattern: str | None) -> tuple[Case, ...]:
    """Return the cases of a tier whose name matches.

    Raises
    ------
    UserError
        If the pattern is no regular expression or matches nothing.
    """
    try:
        wanted = re.compile(pattern or "")
    except (re.error, OverflowError, RecursionError) as error:
        msg = f"--cells {pattern!r} is no regular expression: {error}"
        raise UserError(msg) from error
    found = tuple(e.case for e in cases(tier) if wanted.search(str(e.case)))
    if not found:
        msg = f"no case of tier {tier} matches {pattern!r}: see `python -m benchmarks list cases`"
        raise UserError(msg)
    return found


def _run(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    plan = _given(parser, arguments) if arguments.plan else _asked(parser, arguments)
    stacks = {tag: find_stack(tag) for tag in plan.stacks}
    if len(stacks) < len(plan.stacks):
        msg = f"a stack is named twice: {' '.join(plan.stacks)} (rounds are told apart by tag)"
        raise UserError(msg)
    if arguments.campaign:
        plan = continued(plan, stacks)
    elif arguments.plan:
        check_pins(plan, stacks)
    told = f"run {plan.run} was interrupted: rounds that were written are kept"
    told += "" if arguments.plan else f"; the same with --campaign {plan.run} goes on"
    with interruptible(told):
        if arguments.parent:
            end_with(arguments.parent)
        _measure(plan, stacks, arguments)
    return 0


def _given(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> StagePlan:
    """Return the plan of a plan file, which leaves nothing of it to the command line."""
    named = [f"--{name}" for name in _PLANNED if getattr(arguments, name)]
    if arguments.tags or named:
        told = ", ".join([*(["TAG"] if arguments.tags else []), *named])
        parser.error(f"{told} cannot go with --plan: the plan says it")
    try:
        plan = load_stage(arguments.plan)
    except ValueError as error:
        raise UserError(str(error)) from error
    if len(set(plan.todo)) < len(plan.todo):
        msg = f"{arguments.plan} names a block twice in todo"
        raise UserError(msg)
    return plan


def _asked(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> StagePlan:
    """Return the plan that the command line makes, with all of its blocks."""
    if not arguments.tags:
        parser.error("name the stacks to measure, or a --plan")
    tier, blocks = arguments.tier or TIERS[0], arguments.rounds or _ROUNDS
    run = arguments.campaign or campaign_id()
    return StagePlan(
        run=run,
        stage=_STAGE,
        stacks=tuple(arguments.tags),
        blocks=blocks,
        todo=tuple(range(1, blocks + 1)),
        campaign=run,
        tier="custom" if arguments.cells else tier,
        cases=chosen_cases(tier, arguments.cells),
        directory=str(RECORDED if arguments.record else ROUNDS),
        machine=arguments.machine,
    )


def _measure(plan: StagePlan, stacks: Mapping[str, Stack], arguments: argparse.Namespace) -> None:
    if rehearsing() and Path(plan.directory).resolve().is_relative_to(RECORDED):
        msg = f"{SCRIPT_VARIABLE} is set: a rehearsal is no result and is not recorded"
        raise UserError(msg)
    options = Options(
        tier=plan.tier,
        campaign=plan.campaign,
        directory=Path(plan.directory),
        machine=plan.machine,
        quick=arguments.quick,
        kv_memory_gib=arguments.kv_memory_gib,
    )
    for tag in stacks if rehearsing() else ():
        load_script(tag)  # Refused here, before every case of every round fails for it.
    pythons = {tag: _python(stack, arguments) for tag, stack in stacks.items()}
    turns = []
    draws = random.Random()  # noqa: S311 - an order, not a secret
    for block, tag in interleave(plan.stacks, plan.todo, draws, mixed=plan.mixed):
        number = len(plan.cases)
        design = Design(plan.run, plan.stage, plan.stacks, block, plan.blocks, number)
        told = round_plan(stacks[tag], plan.cases, replace(options, design=design))
        turns.append(Turn(told, pythons[tag]))
    if not turns:
        sys.stdout.write(f"run {plan.run}: every block was measured before\n")
    with Ahead() as ahead:
        for number, turn in enumerate(turns, 1):
            title = f"round {number}/{len(turns)} {turn.plan.tag}"
            following = turns[number] if arguments.overlap and number < len(turns) else None
            with Display(title) as watch:
                path = measure_turn(turn, options.limits, watch, ahead, following)
            sys.stdout.write(f"{title}: {render_round(load_round(path), path)}\n")
            sys.stdout.flush()


def _python(stack: Stack, arguments: argparse.Namespace) -> Path:
    """Return the interpreter that measures a stack; a rehearsal needs no library."""
    if rehearsing():
        return Path(sys.executable)
    return ensure_environment(stack, wheels=arguments.wheels, modules=arguments.modules)


def render_round(round_: Round, path: Path) -> str:
    """Return one line: what became of the cases, where the time went, and the file."""
    counts = {s: sum(r.status is s for r in round_.cases) for s in Status}
    told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    lost = [r for r in round_.cases if r.status in {Status.FAILED, Status.QUARANTINED}]
    lines = [f"\n  {r.status} {r.case}: {r.reason}" for r in lost]
    where = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    return f"{told} in {round_.seconds['total']:.1f} s, {where}" + "".join(lines)


def _list(arguments: argparse.Namespace) -> int:
    rows: Sequence[str]
    if arguments.what == "cases":
        rows = [f"{e.tier:8}{e.family:16}{e.case}" for e in cases(arguments.tier)]
        rows += [f"alias   of {target}: {case}" for case, target in aliases()]
    elif arguments.what == "backends":
        rows = [f"{b.name:36}{b.library:20}{b.layout:12}{b.mode}" for b in BACKENDS]
    else:
        rows = [f"{p.name:24}{p.source}" for p in POLICIES]
    sys.stdout.write("\n".join(rows) + "\n")
    return 0
