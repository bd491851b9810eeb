"""The command `thresholds`: where each planner stops splitting, and what became of it."""

import argparse

from regress.commands.deliver import deliver, targets_of
from regress.commands.options import add_selection, request_of
from regress.config import load_config
from regress.errors import ExitCode
from regress.model.thresholds import StackPair
from regress.pipeline.request import ANY_TIER
from regress.pipeline.thresholds import thresholds
from regress.report import THRESHOLDS_RENDERERS
from workloads import catalog

__all__ = ["add"]


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("thresholds", help="where planners stop splitting long requests")
    parser.add_argument("base", metavar="BASE", nargs="?", help="stack before, e.g. v0.6.0")
    parser.add_argument("head", metavar="HEAD", help="stack tag, e.g. v0.6.1")
    add_selection(parser, THRESHOLDS_RENDERERS, (ANY_TIER, *catalog.TIERS))
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> ExitCode:
    config, targets = load_config(options.config), targets_of(options, THRESHOLDS_RENDERERS)
    report = thresholds(StackPair(options.base, options.head), request_of(options), config)
    deliver(report, options, THRESHOLDS_RENDERERS, targets)
    return report.exit_code
