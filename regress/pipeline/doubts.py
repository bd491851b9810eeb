"""What a reader should doubt although it changes no verdict, one line each."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from regress.counted import counted
from regress.model.cell import Cell, Side
from regress.pipeline.request import BY_DEFAULT
from workloads import catalog
from workloads.record import CaseRecord, Round

__all__ = ["doubts", "passed_over"]


def doubts(cells: Sequence[Cell], sides: Iterable[Sequence[Round]]) -> Iterator[str]:
    """Tell what is weak about the comparison and the rounds."""
    blocks = sum(cell.block for cell in cells)
    if blocks:
        yield (
            f"{counted(blocks, 'cell')} without a campaign that holds both stacks: "
            "compared across campaigns, with wider margins; measure both interleaved"
        )
    unchecked = sum(map(_unchecked, cells))
    if unchecked:
        yield f"correctness not checked in {counted(unchecked, 'cell')}: no round has an error"
    compared = _measured(c.base for c in cells), _measured(c.head for c in cells)
    for rounds, chosen in zip(sides, compared, strict=True):
        yield from _codes(rounds, chosen)


def _measured(sides: Iterable[Side]) -> list[list[CaseRecord]]:
    """Return the compared records of each cell; cells without a time are left out."""
    found = ([o.record for o in side.chosen if o.measured] for side in sides)
    return [records for records in found if records]


def _codes(rounds: Sequence[Round], chosen: Sequence[Sequence[CaseRecord]]) -> Iterator[str]:
    """Tell how often rounds and cells of a side have each warning, one line a code."""
    by_round = Counter(code for r in rounds for code in set(r.warnings))
    by_cell = Counter(
        code for cell in chosen for code in {code for record in cell for code in record.warnings}
    )
    for code in sorted(by_round | by_cell):
        told = [
            f"{when}in {n} of {counted(every, unit)}"
            for when, n, every, unit in (
                ("", by_round[code], len(rounds), "round"),
                ("at some moment ", by_cell[code], len(chosen), "cell"),
            )
            if n
        ]
        yield f"{rounds[0].stack.tag}: {code} {' and '.join(told)}"


def _unchecked(cell: Cell) -> bool:
    records = [o.record for o in (*cell.base.every, *cell.head.every) if o.measured]
    return bool(records) and all(record.error is None for record in records)


def passed_over(tier: str, sides: Iterable[Sequence[Round]]) -> Iterator[str]:
    """Tell which rounds of a larger tier the choice of this one makes light of.

    `check` takes the largest tier up to nightly that both stacks measured, so a stack without
    rounds of it hides what the other one's show.
    """
    if tier not in BY_DEFAULT[:-1]:
        return
    larger = catalog.TIERS[catalog.TIERS.index(tier) + 1 :]
    for side in sides:
        held = [r.tier for r in side if r.tier in larger]
        if held:
            named = " and ".join(name for name in larger if name in held)
            yield (
                f"{counted(len(held), 'round')} of {side[0].stack.tag} of tier {named}, "
                f"the other stack has none: only tier {tier} is judged"
            )
