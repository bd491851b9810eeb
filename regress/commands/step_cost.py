"""The command `step-cost`: what attention costs in a decode step of a deployment."""

import argparse
from pathlib import Path

from regress.commands.deliver import deliver, targets_of
from regress.commands.options import add_selection, request_of
from regress.config import load_config
from regress.errors import ExitCode, UsageError
from regress.model.thresholds import StackPair
from regress.pipeline.request import ANY_TIER
from regress.pipeline.step_cost.profile import load_profile
from regress.pipeline.step_cost.step_cost import latest_stack, step_cost
from regress.report import STEP_COST_RENDERERS

__all__ = ["add"]


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("step-cost", help="attention time of a deployment's decode step")
    parser.add_argument("profile", metavar="PROFILE", type=Path, help="TOML, see regress/profiles")
    what = "one stack (default: the latest with rounds), or BASE HEAD"
    parser.add_argument("stacks", metavar="STACK", nargs="*", help=what)
    add_selection(parser, STEP_COST_RENDERERS, (ANY_TIER,))
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> ExitCode:
    config, targets = load_config(options.config), targets_of(options, STEP_COST_RENDERERS)
    deployment, request = load_profile(options.profile), request_of(options)
    match options.stacks:
        case []:
            stacks = StackPair(None, latest_stack(request))
        case [head]:
            stacks = StackPair(None, head)
        case [base, head]:
            stacks = StackPair(base, head)
        case _:
            msg = f"{len(options.stacks)} stacks: give one, or BASE and HEAD"
            raise UsageError(msg)
    report = step_cost(deployment, stacks, request, config)
    deliver(report, options, STEP_COST_RENDERERS, targets)
    return report.exit_code
