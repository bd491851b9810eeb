"""Detector `step-cost`: arithmetic of a decode step, and what choices cost over the best."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from regress.detect.versus import versus
from regress.model.finding import Ratio
from regress.model.profile import Deployment
from regress.model.step_cost import BackendCost, Choice, Part, Source
from workloads.backend import BACKENDS, Backend, Layout, Mode, alias_of, backend
from workloads.policy import POLICIES
from workloads.workload import Workload

__all__ = [
    "Priced",
    "RoundCosts",
    "add_up",
    "best_of",
    "choices_of",
    "over",
    "shares",
    "step_us",
]

RoundCosts = Mapping[str, Mapping[str, float]]
"""Step costs in microseconds by campaign and round."""
_BY_NAME = {b.name: b for b in BACKENDS}
_ITSELF = Ratio(1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Priced:
    """A backend's cost, and its whole step cost in each round that holds every part."""

    told: BackendCost
    rounds_us: RoundCosts


def step_us(layers: int, kernel_us: float, plan_us: float) -> float:
    """Return the attention time of a step: every layer runs the kernel, plan() runs once."""
    return layers * kernel_us + plan_us


def shares(deployment: Deployment) -> tuple[float, ...]:
    """Return the weights as shares of 1."""
    total = fsum(load.weight for load in deployment.loads)
    return tuple(load.weight / total for load in deployment.loads)


def add_up(
    name: str,
    parts: Sequence[Part],
    deployment: Deployment,
    resolved: Sequence[str],
    *,
    wanted: bool,
) -> BackendCost:
    """Return the weighted cost of a backend; without one if any part has none."""
    weights = shares(deployment)
    kernel_us = _weighted([p.kernel_us for p in parts], weights)
    known = backend(name)
    return BackendCost(
        backend=name,
        layout=known.layout,
        chooses=known.chooses,
        resolved=tuple(resolved),
        wanted=wanted,
        source=max((p.source for p in parts), key=list(Source).index),
        covered=fsum(w for p, w in zip(parts, weights, strict=True) if p.source.by_rounds),
        kernel_us=None if kernel_us is None else deployment.layers * kernel_us,
        plan_us=_weighted([p.plan_us for p in parts], weights),
        step_us=_weighted([p.step_us for p in parts], weights),
        parts=tuple(parts),
    )


def _weighted(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    return fsum(value * weight for value, weight in zip(known, weights, strict=True))


def best_of(priced: Mapping[str, Priced], *, paged: bool) -> str | None:
    """Return the cheapest backend that does not choose; costs by rounds come before a model's.

    Parameters
    ----------
    paged
        Whether only backends on paged KV count.
    """
    rivals = [
        p.told
        for p in priced.values()
        if not p.told.chooses and (p.told.layout is Layout.PAGED or not paged)
    ]
    found = min(rivals, key=_cheapness, default=None)
    return found.backend if found and found.step_us is not None else None


def _cheapness(cost: BackendCost) -> tuple[bool, bool, float]:
    return cost.step_us is None, not cost.source.by_rounds, cost.step_us or 0.0


def choices_of(
    priced: Mapping[str, Priced], deployment: Deployment, workload: Workload, alpha: float
) -> Iterator[Choice]:
    """Yield what `auto` and every policy cost over the best backend.

    Parameters
    ----------
    workload
        Any one of the deployment's shape: policies look at nothing else.
    alpha
        Error of each end of an interval.
    """
    for known in BACKENDS:
        if known.chooses and known.name in priced:
            yield _choice(known.name, known, priced, alpha, policy=False)
    for policy in POLICIES:
        chosen = policy.choose(workload)
        picked = _in_mode(chosen, workload, deployment.mode) if chosen else None
        if picked is None:
            note = f"has no {chosen} for mode {deployment.mode}" if chosen else "does not speak"
            yield Choice(policy.name, policy=True, picked=None, like_for_like=False, note=note)
        else:
            yield _choice(policy.name, picked, priced, alpha, policy=True)


def _in_mode(chosen: str, workload: Workload, mode: Mode) -> Backend | None:
    name = f"{chosen}-serving" if mode is Mode.SERVING else chosen
    return _BY_NAME.get(alias_of(name, workload) or name)


def _choice(
    chooser: str, picked: Backend, priced: Mapping[str, Priced], alpha: float, *, policy: bool
) -> Choice:
    # A policy that leaves paged KV stands against every layout, as in `backends`.
    paged = picked.layout is Layout.PAGED
    ours, best = priced.get(picked.name), best_of(priced, paged=paged)
    if ours is None or ours.told.step_us is None:
        source = ours.told.source if ours else Source.NOTHING
        return Choice(chooser, policy, picked.name, paged, source=source, note=str(source))
    if best is None:
        return Choice(
            chooser, policy, picked.name, paged, ours.told.step_us, note="no rival has a cost"
        )
    theirs = priced[best]
    best_us = theirs.told.step_us or 0.0
    return Choice(
        chooser=chooser,
        policy=policy,
        picked=picked.name,
        like_for_like=paged,
        step_us=ours.told.step_us,
        best=best,
        best_us=best_us,
        extra_us=ours.told.step_us - best_us,
        ratio=_ITSELF if best == picked.name else over(ours, theirs, alpha),
        source=max((ours.told.source, theirs.told.source), key=list(Source).index),
    )


def over(ours: Priced, theirs: Priced, alpha: float) -> Ratio:
    """Return a cost over another of the same stack.

    With an interval if one campaign has rounds that hold every part of both, else by their costs.
    """
    shared = [c for c in ours.rounds_us if c in theirs.rounds_us]
    if not shared:
        return Ratio((ours.told.step_us or 0.0) / (theirs.told.step_us or 1.0), None, None, 0.0)
    both = [(ours.rounds_us[c], theirs.rounds_us[c]) for c in shared]
    slow, fast = max(both, key=lambda sides: min(map(len, sides)))
    return versus(list(slow.values()), list(fast.values()), alpha)
