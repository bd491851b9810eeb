"""The command `calibrate`: how often the suite itself is wrong, from rounds that are there."""

import argparse
from pathlib import Path
from typing import Final

import msgspec

from regress.commands.deliver import view_of, write
from regress.commands.options import roots_of
from regress.config import load_config
from regress.errors import ExitCode, UsageError
from regress.model.calibration import Calibration
from regress.pipeline.calibrate.calibrate import Simulated, calibrate
from regress.pipeline.calibrate.data import TWINS
from regress.pipeline.calibrate.page import write_page
from regress.report.calibration_markdown import render_calibration_markdown
from regress.report.calibration_text import render_calibration_text
from regress.report.view import View
from regress.store.calibration import write_calibration
from regress.store.rounds import load_machine
from regress.store.tree import LOCAL, load_known_tags, scan
from workloads import catalog

__all__ = ["add"]


def _json(told: Calibration, _view: View) -> str:
    return msgspec.json.format(msgspec.json.encode(told), indent=1).decode() + "\n"


_RENDERERS: Final = {
    "text": render_calibration_text,
    "json": _json,
    "markdown": render_calibration_markdown,
}
_GATES: Final = 4000
_SEED: Final = 20260101
_MOST_WORKERS: Final = 2


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("calibrate", help="how often the suite itself is wrong")
    add = parser.add_argument
    add("--tier", choices=catalog.TIERS, default=catalog.TIERS[0], help="cells of a gate")
    add("--gates", type=_count, default=_GATES, metavar="N", help="null gates to simulate")
    add("--seed", type=int, default=_SEED, metavar="N", help="equal seeds give equal results")
    add("--twins", default=",".join(TWINS), metavar="TAG,TAG", help="byte-identical stacks")
    add("--workers", type=int, choices=range(1, _MOST_WORKERS + 1), default=_MOST_WORKERS)
    add("--write", action="store_true", help="keep the result: reports quote it")
    add("--machine", metavar="NAME", help="needed if several machines measured the stacks")
    add("--recorded", action="store_true", help="read the rounds kept in benchmarks/recorded")
    add("--rounds", action="append", type=Path, metavar="DIR", help="read the rounds under DIR too")
    add("--format", choices=tuple(_RENDERERS), default="text")
    add("--output", type=Path, metavar="FILE", help="write there instead of to the terminal")
    add("--config", type=Path, metavar="FILE", help="TOML that overrides thresholds")
    parser.set_defaults(run=_run, all=False)


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        msg = f"{text} gates are none: give a number from 1 up"
        raise argparse.ArgumentTypeError(msg)
    return value


def _run(options: argparse.Namespace) -> ExitCode:
    twins = tuple(options.twins.split(","))
    if len(set(twins)) != 2:  # noqa: PLR2004 - twins are two
        msg = f"--twins {options.twins}: name two stacks, e.g. {','.join(TWINS)}"
        raise UsageError(msg)
    tree = scan(roots_of(options) or (LOCAL,))
    machine = tree.choose_machine(twins, options.machine, load_known_tags())
    wanted = Simulated(
        tier=options.tier,
        gates=options.gates,
        seed=options.seed,
        workers=options.workers,
        twins=twins,
        command=options.command,
    )
    told = calibrate(load_machine(tree, machine).rounds, wanted, load_config(options.config))
    write(_RENDERERS[options.format](told, view_of(options)), options.output)
    if options.write:
        write_calibration(told)
        write_page(told)
    return ExitCode.PASS
