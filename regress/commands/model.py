"""The command `model`: how far the model of time is off on recorded decode cells."""

import argparse

from regress.commands.deliver import write
from regress.errors import ExitCode
from regress.pipeline.explain.accuracy import judge_accuracy
from regress.pipeline.explain.fit_rates import fit_rates, write_rates
from regress.pipeline.explain.timed import MACHINE
from regress.report.accuracy_markdown import render_accuracy_blocks
from regress.store.rounds import load_machine
from regress.store.tree import RECORDED, scan
from workloads.simulator.rates import load_rates

__all__ = ["add"]


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("model", help="how far the model of explain is off")
    parser.add_argument(
        "--fit",
        action="store_true",
        help="fit its rates to the recorded rounds first, and keep them",
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> ExitCode:
    rounds = load_machine(scan((RECORDED,)), MACHINE).rounds
    if options.fit:
        write_rates(fit_rates(rounds))
        load_rates.cache_clear()
    blocks = render_accuracy_blocks(judge_accuracy(rounds), load_rates())
    write("\n".join(blocks.values()))
    return ExitCode.PASS
