"""The intact rounds of a machine: a damaged file is named and left out, the others stand."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from regress.errors import UsageError
from regress.model.history import Damaged
from regress.store.columns import Sheet, sheet_of
from regress.store.load import load_round
from regress.store.rounds import QUICK
from regress.store.tree import Tree

__all__ = ["Intact", "load_intact", "read_sheet"]

Read = Callable[[Path, str], Sheet]
"""Reads a round file, given the SHA-256 of its bytes."""


@dataclass(frozen=True, slots=True)
class Intact:
    """What can be used, what cannot, and what was left aside."""

    sheets: tuple[Sheet, ...]
    damaged: tuple[Damaged, ...]
    warnings: tuple[str, ...]


def read_sheet(path: Path, file_digest: str) -> Sheet:
    """Read a round file.

    Raises
    ------
    UsageError
        If it cannot be read or is damaged.
    """
    return sheet_of(load_round(path), str(path), file_digest)


def load_intact(tree: Tree, machine: str, read: Read = read_sheet) -> Intact:
    """Read every round of a machine that can be read and does not contradict another.

    Of rounds that contradict each other it is not known which is right: all of them are left out.
    """
    damaged: list[Damaged] = []
    found = []
    for tag in tree.tags(machine):
        of_stack = []
        for path in tree.files[machine, tag]:
            try:
                of_stack.append(_placed(read(path, _digest(path)), path))
            except UsageError as error:
                damaged.append(Damaged(str(path), str(error)))
        found += _of_one_stack(of_stack, tag, damaged)
    once, warnings = _once(found, damaged)
    whole = tuple(sheet for sheet in once if QUICK not in sheet.head.warnings)
    if len(whole) < len(once):
        quick = len(once) - len(whole)
        warnings.append(f"{quick} quick rounds are no results: not judged")
    ignored = [p for p in tree.ignored if p.parent.parent.name == machine]
    warnings += [f"{path} is no round file (half-written?): ignored" for path in ignored]
    return Intact(whole, tuple(damaged), tuple(warnings))


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file; empty if it cannot be read, which reading it will tell."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    except OSError:
        return ""


def _placed(sheet: Sheet, path: Path) -> Sheet:
    machine, tag = path.parent.parent.name, path.parent.name
    if (sheet.head.machine, sheet.head.tag) != (machine, tag):
        msg = (
            f"{path} holds a round of {sheet.head.tag} on {sheet.head.machine}: "
            f"move it to {sheet.head.machine}/{sheet.head.tag}/"
        )
        raise UsageError(msg)
    return sheet


def _of_one_stack(sheets: Sequence[Sheet], tag: str, damaged: list[Damaged]) -> list[Sheet]:
    """Keep what the most rounds of a stack were made of: one tag is one set of pins."""
    made_of = Counter((s.head.stack_digest, s.head.imported) for s in sheets)
    if len(made_of) <= 1:
        return list(sheets)
    usual = made_of.most_common(1)[0][0]
    kept = [s for s in sheets if (s.head.stack_digest, s.head.imported) == usual]
    for sheet in sheets:
        if (sheet.head.stack_digest, sheet.head.imported) != usual:
            told = f"{sheet.head.path} was measured with other libraries than most rounds of {tag}"
            damaged.append(Damaged(sheet.head.path, f"{told}: remove it, or the others"))
    return kept


def _once(sheets: Iterable[Sheet], damaged: list[Damaged]) -> tuple[list[Sheet], list[str]]:
    """Count each round once, and none whose files differ."""
    by_id: dict[str, list[Sheet]] = {}
    for sheet in sheets:
        by_id.setdefault(sheet.head.id, []).append(sheet)
    kept, warnings = [], []
    for name, copies in by_id.items():
        first, *others = copies
        if any(_differ(first, other) for other in others):
            paths = " and ".join(c.head.path for c in copies)
            told = f"{paths} differ but have one round id {name}: keep the right one"
            damaged.extend(Damaged(copy.head.path, told) for copy in copies)
            continue
        kept.append(first)
        warnings += [f"{other.head.path} repeats round {name}: counted once" for other in others]
    return kept, warnings


def _differ(one: Sheet, other: Sheet) -> bool:
    """Whether two files hold different rounds; packed in another way they may still be equal."""
    if one.head.file_digest == other.head.file_digest:
        return False
    return load_round(Path(one.head.path)) != load_round(Path(other.head.path))
