"""Rounds that should hold a case and do not: a round of a tier holds every case of the tier."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from regress.model.cell import Cell, Side
from workloads import catalog
from workloads.record import Case, Round

__all__ = ["mark_missing"]


@dataclass(frozen=True, slots=True)
class _Held:
    """What a round holds, and what else it should hold if it was picked by hand."""

    round_id: str
    tier: str
    cases: Collection[Case]
    picked: Collection[Case]

    def lacks(self, case: Case, tier: str | None) -> bool:
        """Whether a case of this tier (None if the catalog does not have it) should be held."""
        if case in self.cases:
            return False
        if self.tier not in catalog.TIERS:
            return case in self.picked
        ranks = catalog.TIERS.index
        return tier is not None and ranks(tier) <= ranks(self.tier)


def mark_missing(
    cells: Iterable[Cell], base: Sequence[Round], head: Sequence[Round], *, hand_picked: bool
) -> tuple[Cell, ...]:
    """Return the cells with the rounds of each side that should hold their case and do not.

    Rounds of hand-picked cases belong together within a campaign: what one of them holds, all of
    them should. That counts only if `hand_picked` cases are judged, not those of a tier.
    """
    tiers = {entry.case: entry.tier for entry in catalog.cases()}
    sides = _held(base, hand_picked=hand_picked), _held(head, hand_picked=hand_picked)

    def marked(side: Side, held: Iterable[_Held], case: Case) -> Side:
        lacking = tuple(h.round_id for h in held if h.lacks(case, tiers.get(case)))
        return replace(side, lacking=lacking) if lacking else side

    return tuple(
        replace(
            cell,
            base=marked(cell.base, sides[0], cell.case),
            head=marked(cell.head, sides[1], cell.case),
        )
        for cell in cells
    )


def _held(rounds: Iterable[Round], *, hand_picked: bool) -> tuple[_Held, ...]:
    holds = [(r, frozenset(record.case for record in r.cases)) for r in rounds]
    picked: dict[str, set[Case]] = defaultdict(set)
    for r, cases in holds:
        if hand_picked and r.tier not in catalog.TIERS:
            picked[r.campaign] |= cases
    return tuple(_Held(r.id, r.tier, cases, picked[r.campaign]) for r, cases in holds)
