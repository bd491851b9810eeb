"""Noise of every case, and the limits that gates are decided with."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from statistics import median

from regress.config import Config
from regress.detect.screen import Limits, limits_of
from regress.model.calibration import CampaignUsed, CellNoise, NoiseFigure
from regress.model.cell import Cell, Observation, Side, value
from regress.model.finding import Metric
from regress.model.rates import Group
from regress.pipeline.cells import index
from regress.pipeline.noise import Index
from regress.stats.noise import pooled_sd, upper_sd
from workloads import catalog
from workloads.record import Case, Round

__all__ = ["campaigns_used", "cell_noise", "limits_of_twins"]

_NOISY = (Metric.KERNEL_TIME, Metric.PLAN_TIME, Metric.SPREAD)
_UNCATALOGUED = "uncatalogued"


def cell_noise(
    seen: Index, stacks: Mapping[str, str], twins: Collection[str], config: Config
) -> tuple[CellNoise, ...]:
    """Return what is known of every case that has a time.

    All stacks tell noise; the time, which sets the least floor, is that of the twins if they
    have one.

    Parameters
    ----------
    seen
        All observations of a case.
    stacks
        Tag of each round, by id.
    """
    families = {entry.case: entry.family for entry in catalog.cases()}
    told = []
    for case in sorted(seen):
        timed = [o for o in seen[case] if o.measured]
        if not timed:
            continue
        noise = {m: f for m in _NOISY if (f := _figure(_groups(timed, stacks, m), config))}
        own = [o for o in timed if stacks[o.round_id] in twins] or timed
        times = [o.record.time_us for o in own if o.record.time_us is not None]
        floor = _limits(case, own, noise, config).floor
        told.append(
            CellNoise(
                case=case,
                family=families.get(case, _UNCATALOGUED),
                group=_group(floor, min(times), config),
                time_us=median(times),
                floor=floor,
                noise=noise,
                by_campaign=_by_campaign(_groups(timed, stacks, Metric.KERNEL_TIME), config),
            )
        )
    return tuple(told)


def limits_of_twins(
    rounds: Sequence[Round], cells: Sequence[CellNoise], config: Config
) -> dict[Case, Limits]:
    """Return the limits that `ab` judges cases with that these rounds of the twins time."""
    seen = index(rounds)
    return {c.case: _limits(c.case, seen[c.case], c.noise, config) for c in cells}


def _limits(
    case: Case, observed: Sequence[Observation], noise: Mapping[Metric, NoiseFigure], config: Config
) -> Limits:
    side = Side(tuple(observed), tuple(observed))
    upper = {metric: figure.upper for metric, figure in noise.items()}
    return limits_of(Cell(case, "", side, side, block=False, noise=upper), config)


def _group(floor: float, shortest_us: float, config: Config) -> Group:
    small = shortest_us < config.noise.small_below_us
    if floor > config.kernel_time.floor.least(small=small, block=False):
        return Group.NOISY
    return Group.SMALL if small else Group.QUIET


def _groups(
    observed: Sequence[Observation], stacks: Mapping[str, str], metric: Metric
) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for o in observed:
        number = value(o.record, metric)
        if number is not None:
            found[stacks[o.round_id], o.campaign].append(number)
    return found


def _figure(
    groups: Mapping[tuple[str, str], Sequence[float]], config: Config
) -> NoiseFigure | None:
    sd, degrees = pooled_sd(groups.values())
    if degrees < config.noise.min_degrees:
        return None
    return NoiseFigure(sd, degrees, upper_sd(sd, degrees, config.noise.confidence))


def _by_campaign(
    groups: Mapping[tuple[str, str], Sequence[float]], config: Config
) -> dict[str, float]:
    found = {}
    for campaign in sorted({campaign for _, campaign in groups}):
        sd, degrees = pooled_sd(v for (_, name), v in groups.items() if name == campaign)
        if degrees >= config.noise.min_degrees:
            found[campaign] = sd
    return found


def campaigns_used(
    rounds: Sequence[Round], cells: Sequence[CellNoise], drawn: Mapping[str, int], tier: str
) -> tuple[CampaignUsed, ...]:
    """Return the campaigns of some rounds, oldest first.

    Parameters
    ----------
    drawn
        Rounds that gates are drawn from, by campaign.
    tier
        Whose cells tell the campaign's noise.
    """
    wanted = {entry.case for entry in catalog.cases(tier)}
    told = []
    for campaign in dict.fromkeys(r.campaign for r in rounds):
        held = [r for r in rounds if r.campaign == campaign]
        tags = sorted({r.stack.tag for r in held})
        noise = [
            c.by_campaign[campaign] for c in cells if c.case in wanted and campaign in c.by_campaign
        ]
        told.append(
            CampaignUsed(
                campaign=campaign,
                rounds={tag: sum(r.stack.tag == tag for r in held) for tag in tags},
                card=", ".join(sorted({r.machine.gpu_uuid[-4:] for r in held})),
                drawn_from=drawn.get(campaign, 0),
                noise=median(noise) if noise else None,
            )
        )
    return tuple(told)
