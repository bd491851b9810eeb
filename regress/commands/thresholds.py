"""The command `thresholds`: where each planner stops splitting, and what became of it."""

import argparse
import os
import secrets
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from regress.commands.deliver import deliver, targets_of
from regress.commands.options import add_selection, request_of
from regress.config import Config, load_config
from regress.errors import ExitCode, UsageError
from regress.model.thresholds import StackPair, ThresholdsReport
from regress.pipeline.ab.drive import Driver, alone, interruptible
from regress.pipeline.request import ANY_TIER
from regress.pipeline.thresholds.bisect import Search, axes_through, bisect
from regress.pipeline.thresholds.thresholds import thresholds
from regress.report import THRESHOLDS_RENDERERS
from regress.store.tree import LOCAL, RECORDED
from workloads import catalog
from workloads.record import REHEARSAL

__all__ = ["add"]

_BACKENDS: Final = ("flashinfer-decode-tc-fa2", "flashinfer-decode-cuda", "fa3-varlen")
_WORKLOAD: Final = "decode-h32x4-d128-bf16-p16-b66-skew40-t262144"


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("thresholds", help="where planners stop splitting long requests")
    parser.add_argument("base", metavar="BASE", nargs="?", help="stack before, e.g. v0.6.0")
    parser.add_argument("head", metavar="HEAD", help="stack tag, e.g. v0.6.1")
    add_selection(parser, THRESHOLDS_RENDERERS, (ANY_TIER, *catalog.TIERS))
    option = parser.add_argument
    option("--bisect", action="store_true", help="measure HEAD until the batch size is exact")
    option("--backend", action="append", metavar="NAME", help="to bisect; may be given again")
    option(
        "--workload",
        default=_WORKLOAD,
        metavar="SLUG",
        help="to bisect; all but its batch size stays (default: %(default)s)",
    )
    option("--new", action="store_true", help="do not go on with a bisection that was broken off")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--record", action="store_true", help="write rounds where git keeps results")
    where.add_argument("--into", type=Path, metavar="DIR", help="write rounds there")
    option("--wheels", type=Path, metavar="DIR", help="install the stack from this folder only")
    option("--modules", type=Path, metavar="DIR", help="prebuilt FlashInfer modules")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> ExitCode:
    config, targets = load_config(options.config), targets_of(options, THRESHOLDS_RENDERERS)
    stacks = StackPair(options.base, options.head)
    if options.bisect:
        report = _bisected(stacks, options, config)
    else:
        report = thresholds(stacks, request_of(options), config)
    deliver(report, options, THRESHOLDS_RENDERERS, targets)
    return report.exit_code


def _bisected(stacks: StackPair, options: argparse.Namespace, config: Config) -> ThresholdsReport:
    """Measure, then report on the rounds of this bisection alone.

    Raises
    ------
    UsageError
        If options do not go together, or measuring fails.
    """
    if stacks.base is not None:
        msg = "--bisect measures one stack: leave out BASE, then compare with the rounds at hand"
        raise UsageError(msg)
    if options.recorded or options.rounds:
        msg = "--bisect measures: --recorded and --rounds are for rounds that are there"
        raise UsageError(msg)
    directory: Path = (RECORDED if options.record else options.into) or LOCAL
    axes = axes_through(options.workload, options.backend or _BACKENDS)
    run = f"bisect-{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
    driver = Driver(tuple(_passed_on(options)))
    # A rehearsal writes to a machine of its own, whatever machine is named.
    machine = REHEARSAL if os.environ.get("ATTN_SCRIPT") else options.machine
    search = Search(driver.measure, directory, run, machine, anew=options.new)
    with alone(directory), interruptible():
        rounds = bisect(stacks.head, axes, search, config.thresholds)
    request = replace(request_of(options), roots=(directory,), machine=rounds[-1].machine.name)
    measured = rounds[-1].design
    return thresholds(stacks, request, config, run=measured.run if measured else run)


def _passed_on(options: argparse.Namespace) -> Iterator[str]:
    """Yield the options that are for measuring.

    Raises
    ------
    UsageError
        If a folder is none.
    """
    for name, folder in (("--wheels", options.wheels), ("--modules", options.modules)):
        if folder is not None:
            if not folder.is_dir():
                msg = f"{name} {folder} is no folder"
                raise UsageError(msg)
            yield from (name, str(folder.resolve()))
