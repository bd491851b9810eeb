"""Detector `regret`: what `auto` and the engines' policies lose to the best backend."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from regress.config import BackendsRule
from regress.detect.advice import advice, cost_of
from regress.detect.versus import surely_above, versus
from regress.model.backends import Choice, FamilyRegret, QueryFamily, Regret
from regress.model.finding import Ratio
from regress.model.race import Race
from workloads.backend import BACKENDS, Backend, Layout, Mode, alias_of
from workloads.policy import POLICIES
from workloads.workload import Phase, Workload

__all__ = ["detect_regrets", "query_family", "sum_up"]

_BY_NAME = {b.name: b for b in BACKENDS}
_ITSELF = Ratio(1.0, 1.0, 1.0, 1.0)


def query_family(workload: Workload, rule: BackendsRule) -> QueryFamily:
    """Return the family of a workload by its phase and query length."""
    if workload.phase is Phase.DECODE:
        return QueryFamily.DECODE
    return QueryFamily.SHORT if workload.q_len <= rule.short_query else QueryFamily.LONG


def detect_regrets(races: Iterable[Race], rule: BackendsRule) -> tuple[Regret, ...]:
    """Judge every chooser on every workload where its pick was measured."""
    return tuple(
        _judge(race, chooser, picked, rule)
        for race in races
        for chooser, picked in _choosers(race.workload)
        if picked.name in race.times_us
    )


def _choosers(workload: Workload) -> Iterator[tuple[str, Backend]]:
    for backend in BACKENDS:
        if backend.chooses and workload.phase in backend.phases:
            yield backend.name, backend
    for policy in POLICIES:
        chosen = policy.choose(workload)
        for name in (chosen, f"{chosen}-serving") if chosen else ():
            same = alias_of(name, workload) or name
            if same in _BY_NAME:
                yield policy.name, _BY_NAME[same]


def _judge(race: Race, chooser: str, picked: Backend, rule: BackendsRule) -> Regret:
    # A policy that leaves paged KV stands against every layout: it changes the engine's cache.
    like_for_like = picked.layout is Layout.PAGED
    best = min(
        _rivals(race, picked, like_for_like=like_for_like),
        key=lambda b: median(race.times_us[b.name]),
    )
    ours, theirs = race.times_us[picked.name], race.times_us[best.name]
    ratio = _ITSELF if best is picked else versus(ours, theirs, rule.interval_alpha)
    enough = min(len(ours), len(theirs)) >= rule.min_rounds
    return Regret(
        chooser=chooser,
        family=query_family(race.workload, rule),
        mode=picked.mode,
        workload=race.workload.slug,
        picked=picked.name,
        resolved=race.resolved.get(picked.name),
        picked_us=median(ours),
        best=best.name,
        best_us=median(theirs),
        ratio=ratio,
        like_for_like=like_for_like,
        inverted=surely_above(ratio, rule.inverted_regret) if enough else None,
        rounds=race.round_ids,
    )


def _rivals(race: Race, picked: Backend, *, like_for_like: bool) -> Iterator[Backend]:
    for name in race.times_us:
        rival = _BY_NAME[name]
        same_layout = rival.layout is picked.layout or not like_for_like
        if rival is picked or (not rival.chooses and rival.mode is picked.mode and same_layout):
            yield rival


def sum_up(
    regrets: Iterable[Regret], races: Iterable[Race], rule: BackendsRule
) -> tuple[FamilyRegret, ...]:
    """Sum up by chooser, family and mode: the library's own choosers first."""
    by_slug = {race.workload.slug: race for race in races}
    grouped: dict[tuple[bool, Mode, QueryFamily, str], list[Regret]] = {}
    for regret in regrets:
        policy = regret.chooser not in _BY_NAME
        key = policy, regret.mode, regret.family, regret.chooser
        grouped.setdefault(key, []).append(regret)

    def rank(key: tuple[bool, Mode, QueryFamily, str]) -> tuple[bool, int, int, str]:
        policy, mode, family, chooser = key
        return policy, list(Mode).index(mode), list(QueryFamily).index(family), chooser

    return tuple(_family(grouped[key], by_slug, rule) for key in sorted(grouped, key=rank))


def _family(group: Sequence[Regret], races: Mapping[str, Race], rule: BackendsRule) -> FamilyRegret:
    decided = [r for r in group if r.inverted is not None]
    inverted = [r for r in decided if r.inverted]
    choice = Choice.UNDECIDED
    if decided:
        share = len(inverted) / len(decided)
        choice = Choice.INVERTED if share >= rule.inverted_share else Choice.NOT_INVERTED
    worst = max(group, key=lambda r: r.ratio.estimate)
    wins = Counter(r.best for r in inverted or group)
    best_in = max(wins.values())
    costs = {n: cost_of(n, group, races, rule) for n, times in wins.items() if times == best_in}
    best, *tied = sorted(costs, key=lambda name: costs[name].worst)
    first = group[0]
    return FamilyRegret(
        chooser=first.chooser,
        policy=first.chooser not in _BY_NAME,
        family=first.family,
        mode=first.mode,
        like_for_like=all(r.like_for_like for r in group),
        choice=choice,
        workloads=len(group),
        decided=len(decided),
        inverted=len(inverted),
        median=median(r.ratio.estimate for r in group),
        worst=worst.ratio.estimate,
        worst_workload=worst.workload,
        best=best,
        best_in=best_in,
        tied=tuple(tied),
        cost=costs[best],
        advice=advice(best) if choice is Choice.INVERTED else "",
    )
