"""What should be there and is not: cases in a round, and rounds that were planned."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from regress.model.cell import Cell, Side
from regress.model.finding import Finding, Metric, RoundIds, Series
from regress.model.reason import REASONS, Reason, ReasonCode
from workloads import catalog
from workloads.record import Case, Round
from workloads.stage import BACKFILL

__all__ = ["mark_missing", "missing_rounds"]


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


def missing_rounds(
    rounds: Iterable[Round], pair: Sequence[str], wanted: Mapping[Case, str]
) -> Iterator[Finding]:
    """Say of every wanted case which planned rounds of base or head have no file.

    Every round tells how many were planned beside it, except those of a backfill, whose groups
    end where its time does. Only runs of all the stacks in `pair` count.
    """
    stages: dict[tuple[str, str], list[Round]] = defaultdict(list)
    for r in rounds:
        if not r.design or r.design.stage.startswith(BACKFILL):
            continue
        if {*pair} <= {*r.design.stacks}:
            stages[r.design.run, r.design.stage].append(r)
    for (run, stage), found in stages.items():
        told = "; ".join(_lost_blocks(found, pair))
        if told:
            cases = {record.case for r in found for record in r.cases}
            for case in sorted(cases & wanted.keys()):
                yield Finding(
                    detector="coverage",
                    family=wanted[case],
                    series=Series(case, Metric.KERNEL_TIME),
                    verdict=REASONS[ReasonCode.MISSING_ROUND].verdict,
                    reason=Reason(ReasonCode.MISSING_ROUND, f"run {run}, {stage}: no {told}"),
                    rounds=RoundIds((), ()),
                )


def _lost_blocks(rounds: Sequence[Round], pair: Sequence[str]) -> Iterator[str]:
    designs = [(r.stack.tag, r.design) for r in rounds if r.design]
    blocks = max(design.blocks for _, design in designs)
    for tag in pair:
        held = {design.block for name, design in designs if name == tag}
        lost = [str(n) for n in range(1, blocks + 1) if n not in held]
        if lost:
            yield f"round of {tag} in block {', '.join(lost)} of {blocks}"
