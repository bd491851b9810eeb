"""The commands `run` and `list`: measure interleaved rounds of stacks, and show what there is."""

import argparse
import random
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from benchmarks.campaign import Options, campaign_id, interleave, measure_round
from benchmarks.errors import UserError
from benchmarks.paths import RECORDED, ROOT, ROUNDS
from benchmarks.plan import KV_MEMORY_GIB, parse_gib
from benchmarks.progress import Progress
from benchmarks.rounds import load_round
from benchmarks.stacks import find_stack
from benchmarks.venv import ensure_environment, existing_folder
from workloads.backend import BACKENDS
from workloads.catalog import TIERS, aliases, cases
from workloads.policy import POLICIES
from workloads.record import Case, Round, Status

__all__ = ["add_parser", "chosen_cases", "render_round"]

_STAGES: Final = {"build": "building", "measure": "measuring"}


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `run` and `list`."""
    run = subparsers.add_parser("run", help="measure rounds of one or more stacks, interleaved")
    run.add_argument("tags", nargs="+", metavar="TAG", help="stacks, e.g. v0.6.0 v0.6.1")
    run.add_argument("--rounds", type=_positive, default=5, help="rounds a stack (default 5)")
    run.add_argument("--tier", choices=TIERS, default="gate", help="cases (default gate)")
    run.add_argument("--cells", metavar="REGEX", help="only cases whose slug@backend matches")
    run.add_argument("--machine", metavar="NAME", help="name of this kind of machine")
    run.add_argument("--campaign", metavar="ID", help="go on with an earlier campaign")
    run.add_argument("--quick", action="store_true", help="only see that everything runs")
    run.add_argument("--record", action="store_true", help="write where git keeps results")
    run.add_argument(
        "--wheels", type=existing_folder, metavar="DIR", help="install from this folder only"
    )
    run.add_argument(
        "--modules", type=existing_folder, metavar="DIR", help="prebuilt FlashInfer modules"
    )
    run.add_argument("--kv-memory-gib", type=_gib, default=KV_MEMORY_GIB, metavar="GIB")
    run.set_defaults(func=_run)
    shown = subparsers.add_parser("list", help="show cases, backends or policies")
    shown.add_argument("what", choices=("cases", "backends", "policies"))
    shown.add_argument("--tier", choices=TIERS, default="sweep")
    shown.set_defaults(func=_list)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        msg = f"{text!r} is no number of at least 1"
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


def _run(arguments: argparse.Namespace) -> int:
    stacks = {tag: find_stack(tag) for tag in arguments.tags}
    chosen = chosen_cases(arguments.tier, arguments.cells)
    options = Options(
        tier="custom" if arguments.cells else arguments.tier,
        campaign=arguments.campaign or campaign_id(),
        directory=RECORDED if arguments.record else ROUNDS,
        machine=arguments.machine,
        quick=arguments.quick,
        kv_memory_gib=arguments.kv_memory_gib,
    )
    pythons = {
        tag: ensure_environment(stack, wheels=arguments.wheels, modules=arguments.modules)
        for tag, stack in stacks.items()
    }
    draws = random.Random()  # noqa: S311 - an order, not a secret
    order = interleave(list(stacks), arguments.rounds, draws)
    for number, tag in enumerate(order, 1):
        title = f"round {number}/{len(order)} {tag}"
        with _Display(title) as watch:
            path = measure_round(stacks[tag], chosen, options, pythons[tag], watch)
        sys.stdout.write(f"{title}: {render_round(load_round(path), path)}\n")
        sys.stdout.flush()
    return 0


class _Display:
    """Cells done and time left: a bar on a terminal, nothing in a log (one line a round is)."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Callable[[Progress], None]:
        self._bar.start()
        return self._show

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def _show(self, step: Progress) -> None:
        if step.stage not in _STAGES or not step.total:
            return
        if step.stage not in self._tasks:
            title = f"{self._title}: {_STAGES[step.stage]}"
            self._tasks[step.stage] = self._bar.add_task(title, total=step.total)
        self._bar.update(self._tasks[step.stage], completed=step.done + 1)


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
