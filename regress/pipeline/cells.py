"""Making cells: which rounds of a case are compared."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from regress.model.cell import Cell, Observation, Side
from regress.pipeline.noise import Index, Noise
from workloads.record import Case, Round

__all__ = ["build_cells", "choose_campaign", "index"]


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


def build_cells(
    wanted: Mapping[Case, str], base: Index, head: Index, noise: Noise
) -> tuple[Cell, ...]:
    """Make a cell of every wanted case, given with its family."""
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
