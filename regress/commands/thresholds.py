"""The command `thresholds`: where each planner stops splitting, and what became of it."""

import argparse
from dataclasses import replace
from typing import Final

from regress.commands.deliver import deliver, targets_of
from regress.commands.measuring import (
    add_measuring,
    driver_of,
    machine_of,
    new_id,
    written_to,
)
from regress.commands.options import add_selection, request_of
from regress.config import Config, load_config
from regress.errors import ExitCode, UsageError
from regress.model.thresholds import StackPair, ThresholdsReport
from regress.pipeline.ab.drive import alone, interruptible
from regress.pipeline.request import ANY_TIER
from regress.pipeline.thresholds.bisect import Search, axes_through, bisect
from regress.pipeline.thresholds.thresholds import thresholds
from regress.report import THRESHOLDS_RENDERERS
from regress.store.tree import LOCAL
from workloads import catalog

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
    add_measuring(parser)
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
    directory = written_to(options) or LOCAL
    axes = axes_through(options.workload, options.backend or _BACKENDS)
    run, measure = new_id("bisect"), driver_of(options).measure
    search = Search(measure, directory, run, machine_of(options), anew=options.new)
    with alone(directory), interruptible():
        rounds = bisect(stacks.head, axes, search, config.thresholds)
    request = replace(request_of(options), roots=(directory,), machine=rounds[-1].machine.name)
    measured = rounds[-1].design
    return thresholds(stacks, request, config, run=measured.run if measured else run)
