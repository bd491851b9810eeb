"""The command `bisect`: between which releases some cases changed, measuring few of them."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Final

from regress.commands.deliver import view_of, write
from regress.commands.measuring import (
    add_measuring,
    driver_of,
    machine_of,
    new_id,
    written_to,
)
from regress.config import load_config
from regress.errors import ExitCode, UsageError
from regress.model.bisection import Bisection
from regress.pipeline.ab.drive import alone, interruptible
from regress.pipeline.bisect.bisect import Search, bisect_releases, range_of
from regress.pipeline.request import Request
from regress.report.bisection_text import render_bisection_text
from regress.report.json import render_json
from regress.report.view import View
from regress.store.tree import LOCAL
from workloads import catalog
from workloads.record import Case

__all__ = ["add"]

_RENDERERS: Final[dict[str, Callable[[Bisection, View], str]]] = {
    "text": render_bisection_text,
    "json": render_json,
}
_MOST_CASES: Final = 100
"""More cases at once make every comparison need many rounds."""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("bisect", help="between which releases cases changed: measures")
    parser.add_argument("good", metavar="GOOD", help="older release, e.g. v0.5.3")
    parser.add_argument("bad", metavar="BAD", help="newer release, e.g. v0.6.4")
    option = parser.add_argument
    option(
        "--cells",
        metavar="REGEX",
        required=True,
        help="cases whose workload@backend contains this; few, as all share the error rate",
    )
    option("--tier", choices=catalog.TIERS, default=catalog.TIERS[-1], help="cases to choose from")
    option("--machine", metavar="NAME", help="name for this machine (default: its GPU model)")
    option("--format", choices=tuple(_RENDERERS), default="text")
    option("--output", type=Path, metavar="FILE", help="write there instead of to the terminal")
    option("--config", type=Path, metavar="FILE", help="TOML that overrides thresholds")
    add_measuring(parser)
    parser.set_defaults(run=_run, all=False)


def _run(options: argparse.Namespace) -> ExitCode:
    config, directory = load_config(options.config), written_to(options) or LOCAL
    within, cases = range_of(options.good, options.bad), _cases(options)
    search = Search(
        driver_of(options).measure, directory, new_id("bisect"), machine_of(options), options.new
    )
    with alone(directory), interruptible():
        report = bisect_releases(within, cases, search, config, options.command)
    write(_RENDERERS[options.format](report, view_of(options)), options.output)
    return report.exit_code


def _cases(options: argparse.Namespace) -> tuple[Case, ...]:
    request = Request((), None, options.tier, options.cells, options.command)
    cases = tuple(request.cases(()))
    if len(cases) > _MOST_CASES:
        msg = f"--cells {options.cells!r} fits {len(cases)} cases: choose at most {_MOST_CASES}"
        raise UsageError(msg)
    return cases
