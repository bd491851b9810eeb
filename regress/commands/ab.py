"""The command `ab`: measure two stacks until every cell is decided, and say what changed."""

import argparse
import os
import secrets
import shlex
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from regress.commands.deliver import deliver, targets_of
from regress.commands.options import (
    add_pair,
    add_selection,
    add_waivers,
    folder,
    request_of,
    roots_of,
    waivers_of,
)
from regress.config import load_config
from regress.errors import ExitCode, UsageError
from regress.pipeline.ab.ab import Order, ab, judge_run
from regress.pipeline.ab.drive import Driver, alone, interruptible
from regress.pipeline.ab.state import Sought
from regress.report import CHECK_RENDERERS
from regress.store.tree import LOCAL, RECORDED
from workloads import catalog
from workloads.record import REHEARSAL

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
    option("--new", action="store_true", help="do not go on with a run that was broken off")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--record", action="store_true", help="write rounds where git keeps results")
    where.add_argument("--into", type=folder, metavar="DIR", help="write rounds there")
    option("--wheels", type=folder, metavar="DIR", help="install stacks from this folder only")
    option("--modules", type=folder, metavar="DIR", help="prebuilt FlashInfer modules")
    parser.set_defaults(run=_run, tier=None)


def _run(options: argparse.Namespace) -> ExitCode:
    targets = targets_of(options, CHECK_RENDERERS)
    narrowed = options.tier is not None or options.cells is not None
    options.tier = options.tier or catalog.TIERS[0]
    only_judge = options.judge or options.run_id is not None or options.recorded
    written = RECORDED if options.record else options.into
    directory, named = written or LOCAL, roots_of(options)
    # What is measured must be read again; what is only judged is where the options say.
    roots = (directory, *named) if written or not (only_judge and named) else named
    if named and not written and not only_judge:
        options.command += f" {shlex.join(['--rounds', str(directory)])}"
    request = replace(
        request_of(options), roots=roots, waivers=waivers_of(options), machine=_machine(options)
    )
    sought = Sought(options.base, options.head, request, load_config(options.config))
    if only_judge:
        report = judge_run(sought, options.run_id, narrowed=narrowed)
    else:
        with alone(directory), interruptible():
            report = ab(sought, _order(options, directory))
    deliver(report, options, CHECK_RENDERERS, targets)
    return report.exit_code


def _machine(options: argparse.Namespace) -> str | None:
    """Return the machine that is named; a rehearsal has its own, whatever is."""
    only_judge = options.judge or options.run_id is not None or options.recorded
    rehearsing = os.environ.get("ATTN_SCRIPT") and not only_judge
    return REHEARSAL if rehearsing else options.machine


def _order(options: argparse.Namespace, directory: Path) -> Order:
    driver = Driver(tuple(_passed_on(options)))
    run = f"ab-{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
    return Order(driver.measure, directory, run, anew=options.new)


def _passed_on(options: argparse.Namespace) -> Iterator[str]:
    """Yield the options that are for measuring.

    Raises
    ------
    UsageError
        If a folder is none.
    """
    for name, path in (("--wheels", options.wheels), ("--modules", options.modules)):
        if path is not None:
            if not path.is_dir():
                msg = f"{name} {path} is no folder"
                raise UsageError(msg)
            yield from (name, str(path.resolve()))
