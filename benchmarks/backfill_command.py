"""The command `backfill`: measure what is missing of many stacks, within a time budget."""

import argparse
import os
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.backends.scripted import load_script
from benchmarks.backfill import Wanted, by_priority, count_rounds, next_group
from benchmarks.campaign import Options, campaign_id, measure_turn, round_plan
from benchmarks.display import Display
from benchmarks.errors import UserError
from benchmarks.interrupt import interruptible
from benchmarks.measure.host import gpu_of_host, machine_name
from benchmarks.paths import RECORDED, ROUNDS
from benchmarks.process import Ahead, Turn
from benchmarks.rounds import load_round, round_files
from benchmarks.run_command import chosen_cases, positive, render_round
from benchmarks.stacks import Stack, find_stack, load_stacks
from benchmarks.venv import ensure_environment, existing_folder
from workloads.catalog import TIERS
from workloads.record import Case, Design, Round, Status
from workloads.rehearsal import REHEARSAL, SCRIPT_VARIABLE, rehearsing
from workloads.stage import BACKFILL
from workloads.unrunnable import UNRUNNABLE_FILE, Unrunnable

__all__ = ["add_parser"]

_ROUNDS: Final = 5
_REFERENCE: Final = "v0.6.1"
"""The release that the published claims are about."""
_GUESS_S: Final = 20.0
"""A round of the gate tier, before one was measured; rounds of an H200 took 12 s."""
_MOST_INSTALLS: Final = 8
_MOST_S: Final = 1_000_000


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `backfill`."""
    parser = subparsers.add_parser(
        "backfill", help="measure the rounds that are missing, most telling releases first"
    )
    parser.add_argument("tags", nargs="*", metavar="TAG", help="stacks; all published ones if none")
    parser.add_argument("--since", metavar="TAG", help="only stacks as old as this or younger")
    parser.add_argument(
        "--rounds", type=positive, default=_ROUNDS, help=f"rounds a stack (default {_ROUNDS})"
    )
    parser.add_argument("--tier", choices=TIERS, default=TIERS[0], help="cases of a round")
    parser.add_argument(
        "--reference",
        default=_REFERENCE,
        metavar="TAG",
        help=f"stack measured again and again between the others (default {_REFERENCE})",
    )
    parser.add_argument(
        "--budget-s", type=_seconds, metavar="S", help="begin no round that would end later"
    )
    parser.add_argument("--machine", metavar="NAME", help="name of this kind of machine")
    parser.add_argument("--record", action="store_true", help="write where git keeps results")
    parser.add_argument("--wheels", type=existing_folder, metavar="DIR", help="install from there")
    parser.add_argument("--modules", type=existing_folder, metavar="DIR", help="prebuilt modules")
    parser.set_defaults(func=_run)


def _seconds(text: str) -> int:
    is_number = text.isdecimal() and len(text) <= len(str(_MOST_S))
    if not is_number or not 1 <= int(text) <= _MOST_S:
        msg = f"{text!r} is no number of seconds from 1 to {_MOST_S}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


@dataclass(slots=True)
class _Backfill:
    """A backfill that is under way.

    Attributes
    ----------
    pythons
        Interpreters of the stacks that could be installed.
    lost
        Tags that cannot be measured here.
    durations_s
        How long rounds took, the first of them before this backfill.
    known
        Rounds by file, as far as they were read.
    under_way
        Rounds that were decided on and are not measured yet.
    """

    stacks: dict[str, Stack]
    cases: tuple[Case, ...]
    wanted: Wanted
    options: Options
    deadline: float | None
    machine: str
    pythons: dict[str, Path] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    durations_s: list[float] = field(default_factory=list)
    known: dict[Path, Round] = field(default_factory=dict)
    under_way: Counter[str] = field(default_factory=Counter)

    def done(self) -> Counter[str]:
        """Return the rounds that each stack has, those of a backfill beside this one included."""
        for directory in {RECORDED, self.options.directory}:
            for path in round_files(directory):
                if path not in self.known:
                    self.known[path] = load_round(path)
        here = [r for r in self.known.values() if r.machine.name == self.machine]
        return count_rounds(here, self.stacks, self.cases)

    def capacity(self) -> int:
        """Return how many rounds the rest of the budget holds."""
        if self.deadline is None:
            return len(self.stacks) * self.wanted.rounds * 2
        return int((self.deadline - time.monotonic()) / self.typical_s())

    def typical_s(self) -> float:
        """Return what a round takes from start to start."""
        return statistics.median(self.durations_s) if self.durations_s else _GUESS_S

    def turns(self) -> Iterator[Turn]:
        """Yield round after round until all is done or the budget is spent."""
        draws = random.Random()  # noqa: S311 - an order, not a secret
        number = 0
        while self.capacity() > 0:
            done = self.done() + self.under_way
            group = next_group(self.wanted, done, self.lost, self.capacity(), draws)
            if not group:
                return
            number += 1
            run, stage = self.options.campaign, f"{BACKFILL}{number}"
            design = Design(run, stage, group, 1, 1, len(self.cases))
            for tag in group:
                if tag in self.lost or self.capacity() <= 0:
                    continue
                self.under_way[tag] += 1
                told = round_plan(
                    self.stacks[tag], self.cases, replace(self.options, design=design)
                )
                yield Turn(told, self.pythons[tag])

    def give_up(self, tag: str, error: UserError) -> None:
        """Leave a stack out from now on, and note why."""
        self.lost.add(tag)
        sys.stdout.write(f"{tag} is left out: {error}\n")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        note = Unrunnable(tag, self.stacks[tag].digest, self.machine, str(error), now)
        path = self._note(tag)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(note)) + b"\n")

    def measured(self, tag: str, path: Path) -> None:
        """Take a round into account."""
        self.known[path] = load_round(path)
        self._note(tag).unlink(missing_ok=True)

    def _note(self, tag: str) -> Path:
        return self.options.directory / self.machine / tag / UNRUNNABLE_FILE


def _run(arguments: argparse.Namespace) -> int:
    started = time.monotonic()
    stacks = _chosen(arguments)
    tags = tuple(tag for tag in stacks if tag in set(arguments.tags or stacks))
    if not tags:
        msg = f"none of these stacks is as young as {arguments.since}: leave --since out"
        raise UserError(msg)
    cases = chosen_cases(arguments.tier, None)
    directory = RECORDED if arguments.record else ROUNDS
    if rehearsing() and arguments.record:
        msg = f"{SCRIPT_VARIABLE} is set: a rehearsal is no result and is not recorded"
        raise UserError(msg)
    backfill = _Backfill(
        stacks,
        cases,
        Wanted(by_priority(tags), arguments.rounds, arguments.reference),
        Options(arguments.tier, campaign_id(), directory, arguments.machine),
        None if arguments.budget_s is None else started + arguments.budget_s,
        REHEARSAL if rehearsing() else arguments.machine or machine_name(gpu_of_host()[0]),
    )
    with interruptible("backfill was interrupted: rounds that were written are kept"):
        _prepare(backfill, arguments)
        _measure(backfill)
    if backfill.lost.issuperset(tags):
        msg = "no stack could be measured: the lines above say why"
        raise UserError(msg)
    done = backfill.done()
    whole = sum(done[tag] >= arguments.rounds for tag in tags)
    sys.stdout.write(f"{whole} of {len(tags)} stacks have {arguments.rounds} rounds\n")
    return 0


def _chosen(arguments: argparse.Namespace) -> dict[str, Stack]:
    """Return the stacks to complete, oldest first, and the reference."""
    known = load_stacks()
    since = find_stack(arguments.since, known).time if arguments.since else None
    reference = find_stack(arguments.reference, known)
    named = {find_stack(tag, known).tag for tag in arguments.tags}
    return {
        stack.tag: stack
        for stack in known
        if stack.tag == reference.tag
        or (
            (stack.tag in named if named else not stack.ad_hoc)
            and (not since or stack.time >= since)
        )
    }


def _prepare(backfill: _Backfill, arguments: argparse.Namespace) -> None:
    """Make the environments of all stacks; one that cannot be made leaves its stack out."""
    if rehearsing():
        for tag in backfill.stacks:
            load_script(tag)
        backfill.pythons = dict.fromkeys(backfill.stacks, Path(sys.executable))
        return
    make = partial(_environment, wheels=arguments.wheels, modules=arguments.modules)
    with ThreadPoolExecutor(min(_MOST_INSTALLS, os.cpu_count() or 1)) as pool:
        made = pool.map(make, backfill.stacks.values())
    for tag, python in zip(backfill.stacks, made, strict=True):
        if isinstance(python, UserError):
            backfill.give_up(tag, python)
        else:
            backfill.pythons[tag] = python


def _environment(stack: Stack, wheels: Path | None, modules: Path | None) -> Path | UserError:
    try:
        return ensure_environment(stack, wheels=wheels, modules=modules)
    except UserError as error:
        return error


def _measure(backfill: _Backfill) -> None:
    turns = backfill.turns()
    turn = next(turns, None)
    with Ahead() as ahead:
        while turn is not None and backfill.capacity() > 0:
            following = next(turns, None)
            began, tag = time.monotonic(), turn.plan.tag
            if tag in backfill.lost:  # It was decided on before the stack was given up.
                turn = following
                continue
            with Display(tag) as watch:
                try:
                    path = measure_turn(turn, backfill.options.limits, watch, ahead, following)
                except UserError as error:
                    backfill.give_up(tag, error)
                else:
                    backfill.measured(tag, path)
                    sys.stdout.write(f"{tag}: {render_round(backfill.known[path], path)}\n")
                    sys.stdout.flush()
                    if empty := _why_empty(backfill.known[path]):
                        backfill.give_up(tag, UserError(empty))
            backfill.under_way[tag] -= 1
            backfill.durations_s.append(time.monotonic() - began)
            turn = following


def _why_empty(measured: Round) -> str | None:
    """Return why a round has no time at all, e.g. as there is no GPU; None if it has one."""
    if any(record.status is Status.MEASURED for record in measured.cases):
        return None
    reasons = Counter(record.reason or record.status for record in measured.cases)
    return f"no case could be measured, most often: {reasons.most_common(1)[0][0]}"
