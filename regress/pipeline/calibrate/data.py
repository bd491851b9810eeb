"""What a calibration rests on: rounds of whole tiers under one set-up, campaign by campaign."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from regress.errors import NoDataError
from regress.model.cell import value
from regress.model.finding import Metric
from regress.pipeline.ab.runs import is_whole
from regress.stats.exact import Floats
from regress.stats.simulate import Pool, Sample
from regress.store.setup import Setup, setup
from workloads import catalog
from workloads.record import Case, CaseRecord, Round, Status

__all__ = ["LEAST_PROCESSES", "TWINS", "Stratum", "pick_rounds", "strata_of_twins"]

TWINS: Final = ("v0.6.0", "v0.6.1")
"""Stacks whose attention sources are byte-identical: their rounds are one A/A group."""
LEAST_PROCESSES: Final = 8
"""Rounds of the twins that a campaign needs to be drawn from."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """Rounds of the twins in one campaign and tier: the processes that gates are drawn from.

    Attributes
    ----------
    cases
        Those that every round of every stratum measured, in the catalog's order.
    """

    campaign: str
    rounds: tuple[Round, ...]
    cases: tuple[Case, ...]

    def records(self, case: Case) -> tuple[CaseRecord, ...]:
        """Return a case's record in every round."""
        return tuple(r for found in self.rounds for r in found.cases if r.case == case)

    def pool(self, stack: str | None = None) -> Pool:
        """Return the processes of one of the twins, or of both."""
        chosen = [n for n, r in enumerate(self.rounds) if stack in {None, r.stack.tag}]
        values = self.values({case: self.records(case) for case in self.cases})
        return Pool(Sample(values.time[chosen], values.spread[chosen]))

    def values(self, records: Mapping[Case, Sequence[CaseRecord]]) -> Sample:
        """Return the statistics of some records of every round, as logarithms."""
        return Sample(
            *(
                np.log(np.array([[value(r, m) for r in records[case]] for case in self.cases])).T
                for m in (Metric.KERNEL_TIME, Metric.SPREAD)
            )
        )

    def passes(self) -> Floats:
        """Return the logarithms of all pass medians, (processes, cells, passes)."""
        columns = [[r.kernel_us for r in self.records(case)] for case in self.cases]
        found: Floats = np.log(np.array(columns)).transpose(1, 0, 2)
        return found


def pick_rounds(rounds: Mapping[str, Sequence[Round]], twins: Sequence[str]) -> tuple[Round, ...]:
    """Return the rounds of whole tiers under the set-up with the most rounds of the twins.

    Rounds of later stages are left out: which cases they hold depends on what was measured.

    Raises
    ------
    NoDataError
        If there is none of a twin.
    """
    whole = [r for found in rounds.values() for r in found if _is_of_tier(r)]
    counts: Counter[Setup] = Counter(setup(r) for r in whole if r.stack.tag in twins)
    if not counts:
        msg = f"no round of a whole tier of {' or '.join(twins)}: measure them first"
        raise NoDataError(msg)
    chosen = max(counts, key=lambda key: (counts[key], key))
    kept = (r for r in whole if setup(r) == chosen)
    return tuple(sorted(kept, key=lambda r: (r.started_at, r.id)))


def _is_of_tier(found: Round) -> bool:
    return found.tier in catalog.TIERS and is_whole(found)


def strata_of_twins(
    rounds: Iterable[Round], twins: Sequence[str], tier: str, least: int = LEAST_PROCESSES
) -> tuple[Stratum, ...]:
    """Return what gates of a tier may be drawn from, oldest campaign first.

    Of a campaign that measured several tiers, it is the tier with the most rounds: a case may run
    differently among other neighbours.
    """
    enough = catalog.TIERS[catalog.TIERS.index(tier) :]
    grouped: dict[str, dict[str, list[Round]]] = defaultdict(lambda: defaultdict(list))
    for r in rounds:
        if r.stack.tag in twins and r.tier in enough:
            grouped[r.campaign][r.tier].append(r)
    return tuple(_strata(grouped, tier, least))


def _strata(
    grouped: Mapping[str, Mapping[str, list[Round]]], tier: str, least: int
) -> Iterator[Stratum]:
    largest = {campaign: max(tiers.values(), key=len) for campaign, tiers in grouped.items()}
    kept = {campaign: tuple(rounds) for campaign, rounds in largest.items() if len(rounds) >= least}
    measured = [_measured(r) for rounds in kept.values() for r in rounds]
    cases = tuple(e.case for e in catalog.cases(tier) if all(e.case in m for m in measured))
    for campaign, rounds in kept.items():
        yield Stratum(campaign, rounds, cases)


def _measured(found: Round) -> frozenset[Case]:
    return frozenset(c.case for c in found.cases if c.status is Status.MEASURED)
