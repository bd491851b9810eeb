"""The command `alert`: one issue for each thing that somebody has to look at."""

import argparse
import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from regress.commands.options import folder, moment
from regress.config import Config, load_config
from regress.errors import ExitCode, NoDataError, UsageError, worst
from regress.model.alert import EXIT_CODES, Assessment
from regress.output import write_stdout
from regress.pipeline.alerts.host import host_key
from regress.pipeline.alerts.jobs import load_needs
from regress.pipeline.alerts.night import Evidence, assess_night
from regress.report.alert_markdown import Links
from regress.report.printable import escape
from regress.report.workflow_commands import harmless
from regress.store.tree import is_folder

__all__ = ["add"]

_WITHIN_DAYS: Final = 2
_QUOTED: Final = 10
_TAIL_BYTES: Final = 64 * 1024


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command; its exit code is 1 for a regression, 2 for a job that failed, 4 for data."""
    parser = commands.add_parser("alert", help="open, refresh and close issues after a night")
    option = parser.add_argument
    option("--rounds", type=folder, required=True, metavar="DIR", help="all rounds that are kept")
    option(
        "--machines",
        type=_names,
        required=True,
        metavar="JSON",
        help='list of those that measure, e.g. ["h200"]',
    )
    option("--since", type=moment, required=True, metavar="TIME", help="when tonight began")
    option(
        "--needs",
        action="append",
        type=Path,
        default=[],
        metavar="FILE",
        help="GitHub's context `needs` as JSON; may be given several times",
    )
    option(
        "--log", action="append", type=Path, default=[], metavar="FILE", help="quoted if it failed"
    )
    option(
        "--history",
        action="append",
        type=Path,
        default=[],
        metavar="FILE",
        help="what `history --format json` wrote, one a machine",
    )
    option(
        "--within-days",
        type=int,
        default=_WITHIN_DAYS,
        metavar="N",
        help=f"rounds of a machine are missed after so many days (default {_WITHIN_DAYS})",
    )
    option("--config", type=Path, metavar="FILE", help="TOML that overrides thresholds")
    option("--repository", metavar="OWNER/NAME", help="where issues are; without it, only say")
    option("--run-url", default="", metavar="URL", help="the run to link to")
    option("--site-url", default="", metavar="URL", help="the site to link to")
    option("--dry-run", action="store_true", help="leave the issues as they are")
    parser.set_defaults(run=_run)


def _names(text: str) -> tuple[str, ...]:
    try:
        names = json.loads(text)
    except ValueError:
        names = None
    if not (isinstance(names, list) and names and all(isinstance(n, str) and n for n in names)):
        msg = f'{text!r} is no JSON list of names, e.g. ["h200"]'
        raise argparse.ArgumentTypeError(msg)
    return tuple(names)


def _run(options: argparse.Namespace) -> ExitCode:
    if not is_folder(options.rounds):
        msg = f"--rounds {options.rounds} is no folder"
        raise UsageError(msg)
    evidence = Evidence(
        options.rounds,
        options.machines,
        options.since,
        datetime.now(UTC),
        options.within_days,
        {job: result for path in options.needs for job, result in load_needs(path).items()},
        tuple(line for path in options.log for line in _quoted(path)),
        tuple(options.history),
    )
    config = load_config(options.config)
    if options.repository is None:
        found = assess_night(evidence, config, {})
        _tell(f"{alert.signal}: {alert.title}" for alert in found.alerts)
        return _code(found, frozenset())
    try:
        return _on_github(evidence, config, options)
    except NoDataError as error:
        # Its own code would say that data of a machine are missing.
        msg = f"alerts are not told: {error}"
        raise UsageError(msg) from error


def _on_github(evidence: Evidence, config: Config, options: argparse.Namespace) -> ExitCode:
    from regress.github.alerts import Night, load_known, sync
    from regress.github.client import connect, login_of, spoken

    with connect() as github:
        with spoken(f"the repository {options.repository}"):
            repository = github.get_repo(options.repository)
        known = load_known(repository, login_of(github))
        standing = {
            machine: datetime.fromisoformat(one.memory.since)
            for machine in evidence.machines
            for one in known
            if one.is_open and one.memory.key == host_key(machine)
        }
        found = assess_night(evidence, config, standing)
        site = options.site_url and f"{options.site_url.rstrip('/')}/"
        night = Night(
            f"{evidence.since:%Y-%m-%dT%H:%M:%SZ}", Links(options.run_url, site), options.dry_run
        )
        told = sync(repository, known, found, night)
    _tell(told.lines)
    return _code(found, told.muted)


def _code(found: Assessment, muted: frozenset[str]) -> ExitCode:
    return worst(EXIT_CODES[a.signal] for a in found.alerts if a.key not in muted)


def _tell(lines: Iterable[str]) -> None:
    told = "".join(harmless(escape(line)) for line in lines)
    write_stdout(told or "nothing to tell\n")


def _quoted(path: Path) -> list[str]:
    """Return the last lines of a log; a job that never began has written none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return []
    told = [line.strip() for line in lines if line.strip()]
    return [f"{path.parent.name}{os.sep}{path.name}: {line}" for line in told[-_QUOTED:]]
