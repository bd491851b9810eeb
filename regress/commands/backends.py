"""The command `backends`: which backend to use under a stack."""

import argparse
from math import inf

from regress.commands.deliver import deliver, targets_of
from regress.commands.options import add_selection, request_of
from regress.config import load_config
from regress.errors import ExitCode
from regress.pipeline.backends import backends
from regress.report import BACKENDS_RENDERERS

__all__ = ["add"]


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("backends", help="which backend to use under a stack")
    parser.add_argument("stack", metavar="STACK", help="stack tag, e.g. v0.6.1")
    add_selection(parser, BACKENDS_RENDERERS)
    parser.add_argument(
        "--fail-over",
        type=_regret,
        metavar="R",
        help="exit 1 if a regret is shown above R, e.g. 1.2",
    )
    parser.set_defaults(run=_run)


def _regret(text: str) -> float:
    value = float(text)
    if not 1 <= value < inf:
        msg = f"{text} is no regret: give a ratio from 1 up, e.g. 1.2"
        raise argparse.ArgumentTypeError(msg)
    return value


def _run(options: argparse.Namespace) -> ExitCode:
    config, targets = load_config(options.config), targets_of(options, BACKENDS_RENDERERS)
    report = backends(options.stack, request_of(options), config, fail_over=options.fail_over)
    deliver(report, options, BACKENDS_RENDERERS, targets)
    return report.exit_code
