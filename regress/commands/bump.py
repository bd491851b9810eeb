"""The command `bump`: what a pull request does to the pins of attention libraries."""

import argparse
from pathlib import Path

import msgspec

from regress.commands.hosted import require_pygithub
from regress.errors import ExitCode
from regress.model.bump import Bump, State
from regress.output import append_file, write_file, write_stdout
from regress.pins.files import GLOBS
from regress.pins.pattern import Pattern
from regress.report.bump_text import render_bump

__all__ = ["add"]


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("bump", help="what a pull request does to pins, read as data")
    option = parser.add_argument
    option("--repository", metavar="OWNER/NAME", required=True)
    option("--pull", metavar="N", type=int, required=True, help="number of the pull request")
    option("--head", metavar="SHA", help="the commit of the event (default: the current head)")
    option(
        "--pins",
        metavar="GLOB",
        action="append",
        help=f"files of pins, instead of {', '.join(GLOBS)}; may be given several times",
    )
    option(
        "--pattern",
        metavar="LIBRARY=REGEX",
        action="append",
        default=[],
        help="where those files name a version: the expression's one group",
    )
    option("--login", help="who posts as the gate (default: whose token it is)")
    option("--output", type=Path, metavar="FILE", required=True, help="write JSON there")
    option("--github-output", type=Path, metavar="FILE", help="append the job's outputs there")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> ExitCode:
    require_pygithub()
    from regress.github.bump import Ask, load_bump
    from regress.github.client import connect

    patterns = tuple(Pattern.parse(text) for text in options.pattern)
    globs = tuple(options.pins or GLOBS)
    ask = Ask(options.repository, options.pull, options.head, globs, patterns, options.login)
    with connect() as github:
        bump = load_bump(github, ask)
    write_file(msgspec.json.format(msgspec.json.encode(bump), indent=1) + b"\n", options.output)
    if options.github_output:
        append_file(_outputs(bump), options.github_output)
    write_stdout(render_bump(bump))
    return ExitCode.USAGE if bump.state is State.REFUSED else ExitCode.PASS


def _outputs(bump: Bump) -> str:
    """Return the job's outputs: nothing but names that are known and versions that are valid."""
    measure = bump.state is State.MEASURE
    sides = {"base": bump.base_pins, "head": bump.head_pins} if measure else {}
    lines = [f"{side}={' '.join(pins)}" for side, pins in sides.items()]
    return "\n".join((f"measure={str(measure).lower()}", *lines)) + "\n"
