"""The command `check`: what changed from one stack to another, from rounds that are there."""

import argparse
from dataclasses import replace

from regress.commands.deliver import deliver, targets_of
from regress.commands.options import (
    add_pair,
    add_selection,
    add_waivers,
    moment,
    request_of,
    waivers_of,
)
from regress.config import load_config
from regress.errors import ExitCode, UsageError
from regress.pipeline.check import check
from regress.pipeline.nights import check_nights
from regress.report import CHECK_RENDERERS

__all__ = ["add"]


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("check", help="what changed from one stack to another")
    add_pair(parser)
    parser.add_argument(
        "--since",
        type=moment,
        metavar="TIME",
        help="with BASE and HEAD the same stack: its rounds since then (ISO 8601, UTC) against "
        "those of the campaign before",
    )
    parser.add_argument(
        "--before", type=moment, metavar="TIME", help="with --since: the campaign before then"
    )
    add_selection(parser, CHECK_RENDERERS)
    add_waivers(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> ExitCode:
    config, targets = load_config(options.config), targets_of(options, CHECK_RENDERERS)
    request = replace(request_of(options), waivers=waivers_of(options))
    if options.before and not options.since:
        msg = "--before goes with --since"
        raise UsageError(msg)
    if options.since:
        if options.base != options.head:
            msg = "--since compares a stack with itself: name one stack twice"
            raise UsageError(msg)
        report = check_nights(options.base, options.since, request, config, options.before)
    else:
        report = check(options.base, options.head, request, config)
    deliver(report, options, CHECK_RENDERERS, targets)
    return report.exit_code
