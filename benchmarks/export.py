"""The command `export`: choose round files and make asv's results from them.

Round files are the truth. What `asv run` stored itself for a machine is replaced: its rounds are
among the files of `.asv/rounds`, so nothing is lost. The same files give the same bytes.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from benchmarks.errors import UserError
from benchmarks.paths import RECORDED, ROUNDS
from benchmarks.rounds import is_quick, load_rounds
from benchmarks.stacks import Stack, load_stacks
from workloads.catalog import TIERS
from workloads.record import Round

__all__ = ["Kept", "add_parser", "select_rounds"]


@dataclass(frozen=True, slots=True)
class Kept:
    """Rounds that can stand side by side in asv's results.

    Attributes
    ----------
    rounds
        By machine name, then by stack.
    notes
        One line for each reason why rounds were left out.
    """

    rounds: Mapping[str, Mapping[str, tuple[Round, ...]]]
    notes: tuple[str, ...]


def select_rounds(
    rounds: Iterable[Round], stacks: tuple[Stack, ...], tier: str | None = None
) -> Kept:
    """Keep rounds of known stacks, of one tier if asked, and of one protocol version.

    asv joins whatever has one name, so quick rounds, rounds of older protocols and rounds of a
    tag whose pins are other ones now are left out, with a note.
    """
    digests = {stack.tag: stack.digest for stack in stacks}
    wanted = [r for r in rounds if tier is None or r.tier == tier]
    newest = max((r.protocol.version for r in wanted if not is_quick(r)), default=0)
    reasons: tuple[tuple[str, Callable[[Round], bool]], ...] = (
        ("are quick ones, which are no results", is_quick),
        (f"have an older protocol than {newest}", lambda r: r.protocol.version != newest),
        ("belong to stacks that are not in the list", lambda r: r.stack.tag not in digests),
        (
            "belong to a stack whose pins are other ones now",
            lambda r: digests[r.stack.tag] != r.stack.digest,
        ),
    )
    notes = []
    for reason, refuses in reasons:
        refused = [r for r in wanted if refuses(r)]
        wanted = [r for r in wanted if not refuses(r)]
        if refused:
            notes.append(f"{len(refused)} rounds left out: they {reason}")
    grouped: dict[str, dict[str, tuple[Round, ...]]] = {}
    for r in sorted(wanted, key=lambda r: (r.started_at, r.id)):
        of_machine = grouped.setdefault(r.machine.name, {})
        of_machine[r.stack.tag] = (*of_machine.get(r.stack.tag, ()), r)
    return Kept(grouped, tuple(notes))


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `export`."""
    parser = subparsers.add_parser("export", help="make asv's results from round files")
    parser.add_argument(
        "--recorded", action="store_true", help="from the recorded rounds, not this machine's"
    )
    parser.add_argument("--tier", choices=TIERS, help="rounds of this tier only")
    parser.set_defaults(func=_run)


def _run(arguments: argparse.Namespace) -> None:
    from benchmarks.asv_results import write_results

    source = RECORDED if arguments.recorded else ROUNDS
    stacks = load_stacks()
    kept = select_rounds(load_rounds(source), stacks, arguments.tier)
    for note in kept.notes:
        sys.stderr.write(f"note: {note}\n")
    if not kept.rounds:
        msg = f"no rounds to export in {source}: `python -m benchmarks run` measures some"
        raise UserError(msg)
    write_results(kept.rounds, stacks, tier=arguments.tier or TIERS[-1])
    for machine, by_stack in sorted(kept.rounds.items()):
        listed = [(s.tag, len(by_stack[s.tag])) for s in stacks if s.tag in by_stack]
        counts = ", ".join(f"{tag} ({rounds})" for tag, rounds in listed)
        sys.stdout.write(f"{machine}: {counts}\n")
