"""All rounds of a machine, checked against each other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from regress.errors import NoDataError, UsageError
from regress.store.load import load_round
from regress.store.tree import Tree
from workloads.record import Round

__all__ = ["QUICK", "Loaded", "load_machine"]

QUICK: Final = "quick"
"""Warning code of a round that only tries out whether every case runs: never judged."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The rounds of one machine by stack tag, each round once, in order of their start.

    Attributes
    ----------
    warnings
        What was left aside, one line each.
    """

    rounds: dict[str, tuple[Round, ...]]
    warnings: tuple[str, ...]

    def of(self, tag: str) -> tuple[Round, ...]:
        """Return a stack's rounds.

        Raises
        ------
        NoDataError
            If none is left.
        """
        if not self.rounds[tag]:
            msg = f"stack {tag} has only quick rounds, which are no results: measure it"
            raise NoDataError(msg)
        return self.rounds[tag]


def load_machine(tree: Tree, machine: str) -> Loaded:
    """Read every round of a machine.

    Rounds of other stacks are read too: they tell how noisy each cell is. A damaged file is an
    error even there, because what it held is not known.

    Raises
    ------
    UsageError
        If a file is damaged, lies in the wrong folder, or contradicts another.
    """
    warnings = [
        f"{path} is no round file (half-written?): ignored"
        for path in tree.ignored
        if path.parent.parent.name == machine
    ]
    rounds = {}
    seen: dict[str, tuple[Path, Round]] = {}
    for tag in tree.tags(machine):
        found = []
        for path in tree.files[machine, tag]:
            loaded = load_round(path)
            _check_place(loaded, path)
            if _is_new(loaded, path, seen):
                found.append(loaded)
            else:
                warnings.append(f"{path} repeats round {loaded.id}: counted once")
        _check_one_stack(found, tag)
        whole = [r for r in found if QUICK not in r.warnings]
        if len(whole) < len(found):
            quick = len(found) - len(whole)
            warnings.append(f"{quick} quick rounds of {tag} are no results: not judged")
        rounds[tag] = tuple(sorted(whole, key=lambda r: (r.started_at, r.id)))
    return Loaded(rounds, tuple(warnings))


def _check_place(found: Round, path: Path) -> None:
    machine, tag = path.parent.parent.name, path.parent.name
    if (found.machine.name, found.stack.tag) != (machine, tag):
        msg = (
            f"{path} holds a round of {found.stack.tag} on {found.machine.name}: "
            f"move it to {found.machine.name}/{found.stack.tag}/"
        )
        raise UsageError(msg)


def _is_new(found: Round, path: Path, seen: dict[str, tuple[Path, Round]]) -> bool:
    first_path, first = seen.setdefault(found.id, (path, found))
    if first is found:
        return True
    if first != found:
        msg = f"{path} and {first_path} differ but have one round id {found.id}: keep the right one"
        raise UsageError(msg)
    return False


def _check_one_stack(rounds: Sequence[Round], tag: str) -> None:
    if len(set(_digests(rounds))) > 1:
        listed = ", ".join(sorted({d[:12] for d in _digests(rounds)}))
        msg = f"rounds of {tag} come from different stacks (digests {listed}): remove the old ones"
        raise UsageError(msg)
    for found in rounds[1:]:
        first = rounds[0]
        differing = sorted(
            name
            for name in {*first.stack.imported, *found.stack.imported}
            if first.stack.imported.get(name) != found.stack.imported.get(name)
        )
        if differing:
            name = differing[0]
            msg = (
                f"rounds {first.id} and {found.id} of {tag} imported different versions of {name} "
                f"({first.stack.imported.get(name)}, {found.stack.imported.get(name)}): "
                "measure again with one environment"
            )
            raise UsageError(msg)


def _digests(rounds: Iterable[Round]) -> list[str]:
    return [found.stack.digest for found in rounds]
