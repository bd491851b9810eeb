"""Making cells: which rounds of a case are compared, and how noisy the case is."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from regress.config import Config, NoiseRule
from regress.model.cell import Cell, Observation, Side, value
from regress.model.finding import Metric
from regress.stats.noise import pooled_sd, upper_sd
from workloads.record import Case, Round

__all__ = ["Index", "build_cells", "choose_campaign", "index"]

Index = Mapping[Case, tuple[Observation, ...]]
"""Every observation of a case in some rounds, in order of their start."""

_NOISY: Final = (Metric.KERNEL_TIME, Metric.PLAN_TIME, Metric.SPREAD)


def index(rounds: Iterable[Round]) -> Index:
    """Sort what rounds hold by case."""
    found: dict[Case, list[Observation]] = defaultdict(list)
    for r in rounds:
        for record in r.cases:
            found[record.case].append(Observation(r.id, r.campaign, r.started_at, record))
    return {case: tuple(observations) for case, observations in found.items()}


def choose_campaign(*sides: Sequence[Observation]) -> str | None:
    """Return the campaign with the most rounds of the side that has fewest; ties: the latest.

    Planned rounds count, measured or not: a case that got lost in the best campaign must not be
    judged by an older one. None if no campaign holds every side.
    """
    campaigns = set.intersection(*({o.campaign for o in side} for side in sides))

    def rank(campaign: str) -> tuple[int, str]:
        starts = [[o.started_at for o in side if o.campaign == campaign] for side in sides]
        return min(map(len, starts)), max(map(max, starts))

    return max(campaigns, key=rank, default=None)


@dataclass(frozen=True, slots=True)
class _Noise:
    """Noise of every case, over all stacks at hand under one set-up."""

    by_stack: tuple[Index, ...]
    rule: NoiseRule

    def of(self, case: Case) -> dict[Metric, float]:
        groups: dict[tuple[int, str], list[Observation]] = defaultdict(list)
        for number, stack in enumerate(self.by_stack):
            for o in stack.get(case, ()):
                groups[number, o.campaign].append(o)
        found = {}
        for metric in _NOISY:
            samples = ((value(o.record, metric) for o in group) for group in groups.values())
            measured = ([v for v in s if v is not None] for s in samples)
            sd, degrees = pooled_sd(measured)
            if degrees >= self.rule.min_degrees:
                found[metric] = upper_sd(sd, degrees, self.rule.confidence)
        return found


def build_cells(
    wanted: Mapping[Case, str], base: Index, head: Index, others: Iterable[Index], config: Config
) -> tuple[Cell, ...]:
    """Make a cell of every wanted case, given with its family.

    `others` are further stacks under the same set-up; their rounds only tell the noise.
    """
    noise = _Noise((base, head, *others), config.noise)
    cells = []
    for case, family in wanted.items():
        sides = base.get(case, ()), head.get(case, ())
        campaign = choose_campaign(*sides)
        chosen = [
            tuple(o for o in side if campaign is None or o.campaign == campaign) for side in sides
        ]
        cells.append(
            Cell(
                case,
                family,
                Side(sides[0], chosen[0]),
                Side(sides[1], chosen[1]),
                block=campaign is None and all(sides),
                noise=noise.of(case),
            )
        )
    return tuple(cells)
