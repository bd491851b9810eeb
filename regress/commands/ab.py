"""The command `ab`: measure two stacks until every cell is decided, and say what changed."""

import argparse
import shlex
from dataclasses import replace

from regress.commands.deliver import deliver, targets_of
from regress.commands.measuring import (
    add_measuring,
    driver_of,
    machine_of,
    new_id,
    written_to,
)
from regress.commands.options import (
    add_pair,
    add_selection,
    add_waivers,
    request_of,
    roots_of,
    waivers_of,
)
from regress.config import load_config
from regress.errors import ExitCode
from regress.pipeline.ab.ab import Order, ab, judge_run
from regress.pipeline.ab.drive import alone, interruptible
from regress.pipeline.ab.state import Sought
from regress.report import CHECK_RENDERERS
from regress.store.tree import LOCAL
from workloads import catalog

__all__ = ["add"]


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("ab", help="measure two stacks until every cell is decided")
    add_pair(parser)
    add_selection(parser, CHECK_RENDERERS, catalog.TIERS)
    add_waivers(parser)
    option = parser.add_argument
    option("--judge", action="store_true", help="only judge the latest run; measure nothing")
    option("--run", metavar="ID", dest="run_id", help="only judge this run; measure nothing")
    add_measuring(parser)
    parser.set_defaults(run=_run, tier=None)


def _run(options: argparse.Namespace) -> ExitCode:
    targets = targets_of(options, CHECK_RENDERERS)
    narrowed = options.tier is not None or options.cells is not None or bool(options.family)
    options.tier = options.tier or catalog.TIERS[0]
    only_judge = options.judge or options.run_id is not None or options.recorded
    written = written_to(options)
    directory, named = written or LOCAL, roots_of(options)
    # What is measured must be read again; what is only judged is where the options say.
    roots = (directory, *named) if written or not (only_judge and named) else named
    if named and not written and not only_judge:
        options.command += f" {shlex.join(['--rounds', str(directory)])}"
    machine = options.machine if only_judge else machine_of(options)
    request = replace(
        request_of(options), roots=roots, waivers=waivers_of(options), machine=machine
    )
    sought = Sought(options.base, options.head, request, load_config(options.config))
    if only_judge:
        report = judge_run(sought, options.run_id, narrowed=narrowed)
    else:
        with alone(directory), interruptible():
            measure = driver_of(options).measure
            report = ab(sought, Order(measure, directory, new_id("ab"), anew=options.new))
    deliver(report, options, CHECK_RENDERERS, targets)
    return report.exit_code
