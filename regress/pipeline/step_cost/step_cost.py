"""The whole of `step-cost`: a deployment and one or two stack tags in, a report out."""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum

from packaging.version import InvalidVersion, Version

from regress.config import Config
from regress.counted import counted
from regress.detect.step_cost import Priced, add_up, best_of, choices_of, shares, step_us
from regress.errors import ExitCode, NoDataError, worst
from regress.model.profile import Deployment
from regress.model.step_cost import (
    STEP_COST_SCHEMA,
    BackendCost,
    LoadBest,
    ProfileTold,
    Source,
    StackCost,
    StepCostReport,
)
from regress.model.thresholds import StackPair
from regress.model.verdict import join
from regress.pipeline.ab.runs import looked_again
from regress.pipeline.cells import index
from regress.pipeline.explain.subject import Subject, run_model
from regress.pipeline.request import Request
from regress.pipeline.step_cost.parts import Found, Predict, find_part
from regress.pipeline.step_cost.times import Shelf, choose_main
from regress.pipeline.step_cost.upgrade import upgrades_of
from regress.pipeline.thresholds.thresholds import load_sides
from regress.store.tree import scan
from workloads.backend import BACKENDS, Layout
from workloads.devices import Device
from workloads.kvlen import KvLengths
from workloads.planner import Plan
from workloads.record import Case, Round
from workloads.workload import Phase, Workload

__all__ = ["latest_stack", "model_time_us", "step_cost"]


def latest_stack(request: Request) -> str:
    """Return the newest release that has rounds; stacks whose tag is no version come last.

    Raises
    ------
    UsageError
        If a folder cannot be read.
    NoDataError
        If there are no rounds.
    """
    tree = scan(request.roots)
    tags = [tag for machine, tag in tree.files if request.machine in {None, machine}]
    if not tags:
        searched = ", ".join(map(str, request.roots))
        msg = f"no rounds under {searched}: measure first, or use --recorded"
        raise NoDataError(msg)
    return max(tags, key=_age)


def _age(tag: str) -> tuple[bool, Version]:
    try:
        return True, Version(tag.removeprefix("v"))
    except InvalidVersion:
        return False, Version("0")


def model_time_us(plan: Plan, device: Device) -> float:
    """Return the simulator's kernel time.

    Raises
    ------
    ValueError
        If it has none for this plan.
    """
    return run_model(plan, Subject("", plan.batch, device)).time_us


def step_cost(
    deployment: Deployment,
    stacks: StackPair,
    request: Request,
    config: Config,
    predict: Predict = model_time_us,
) -> StepCostReport:
    """Return what attention costs in a decode step of a deployment.

    Parameters
    ----------
    predict
        Model of time for batches that no round holds; what rests on it is labelled and counts as
        not measured.

    Raises
    ------
    UsageError
        If the request or a round file is wrong.
    NoDataError
        If a stack was not measured.
    """
    sides = load_sides(stacks, request)
    usable = {
        tag: [r for r in rounds if not looked_again(r)] for tag, rounds in sides.rounds.items()
    }
    shelves = _shelves(usable, deployment, request)
    priced = {shelf.tag: _priced(deployment, shelf, predict) for shelf in shelves}
    costs = tuple(_stack_cost(deployment, s, priced[s.tag], config) for s in shelves)
    upgrades = upgrades_of(deployment, stacks, priced, request, config)
    counting = [upgrade.verdict for upgrade, _ in upgrades]
    codes = [code for _, code in upgrades]
    return StepCostReport(
        schema=STEP_COST_SCHEMA,
        command=request.command,
        stacks=stacks,
        machine=sides.machine,
        setup=dict(sides.setup),
        profile=_told(deployment),
        verdict=join(counting) if counting else None,
        exit_code=worst((*codes, *map(_exit_code, costs))),
        costs=costs,
        upgrades=tuple(upgrade for upgrade, _ in upgrades),
        warnings=(*sides.warnings, *_warnings(deployment, sides.rounds, usable)),
    )


def _shelves(
    rounds: Mapping[str, Sequence[Round]], deployment: Deployment, request: Request
) -> list[Shelf]:
    """Sort the rounds of each stack, and choose the campaign that tells most of the profile.

    Raises
    ------
    NoDataError
        If a stack has only rounds that `ab` chose by what it saw.
    """
    for tag, of_tag in rounds.items():
        if not of_tag:
            msg = f"stack {tag} has only rounds in which `ab` looked again: measure a tier"
            raise NoDataError(msg)
    every = {tag: index(of_tag) for tag, of_tag in rounds.items()}
    fits = request.cases(dict.fromkeys(case for found in every.values() for case in found))
    sides = {
        tag: {case: seen for case, seen in found.items() if case in fits}
        for tag, found in every.items()
    }
    wanted = [Case(load.name, name) for load in deployment.loads for name in deployment.backends]
    main = choose_main(wanted, *sides.values())
    others = {tag: [found for other, found in sides.items() if other != tag] for tag in sides}
    return [
        Shelf(tag, rounds[tag], found, others[tag][0] if others[tag] else {}, main)
        for tag, found in sides.items()
    ]


def _priced(deployment: Deployment, shelf: Shelf, predict: Predict) -> dict[str, Priced]:
    """Price the wanted backends, and others of the mode that were measured on every batch."""
    names = [b.name for b in BACKENDS if b.mode is deployment.mode]
    return {
        name: _price(deployment, name, shelf, predict, wanted=name in deployment.backends)
        for name in names
        if name in deployment.backends or _measured(deployment, name, shelf)
    }


def _measured(deployment: Deployment, name: str, shelf: Shelf) -> bool:
    return all(shelf.timed(Case(load.name, name)) is not None for load in deployment.loads)


def _any_workload(deployment: Deployment) -> Workload:
    return Workload(Phase.DECODE, deployment.shape, KvLengths("uniform", 1, 1))


def _price(
    deployment: Deployment, name: str, shelf: Shelf, predict: Predict, *, wanted: bool
) -> Priced:
    layers = deployment.layers
    found = [find_part(load, name, layers, shelf, predict) for load in deployment.loads]
    resolved = dict.fromkeys(kernel for one in found for kernel in one.resolved)
    parts = [one.part for one in found]
    told = add_up(name, parts, deployment, tuple(resolved), wanted=wanted)
    return Priced(told, _round_costs(found, deployment))


def _round_costs(found: Sequence[Found], deployment: Deployment) -> dict[str, dict[str, float]]:
    """Return the step cost of every round that holds all parts, by campaign."""
    weights = shares(deployment)
    costs: dict[str, dict[str, float]] = {}
    for key in found[0].by_round:
        campaign, round_id = key
        if all(key in one.by_round for one in found):
            costs.setdefault(campaign, {})[round_id] = fsum(
                weight * step_us(deployment.layers, *one.by_round[key])
                for one, weight in zip(found, weights, strict=True)
            )
    return costs


def _stack_cost(
    deployment: Deployment, shelf: Shelf, priced: Mapping[str, Priced], config: Config
) -> StackCost:
    loads = tuple(_load_bests(deployment, priced))
    each = [load.best_us for load in loads]
    known = [us for us in each if us is not None]
    best, best_any = best_of(priced, paged=True), best_of(priced, paged=False)
    choices = choices_of(
        priced, deployment, _any_workload(deployment), config.backends.interval_alpha
    )
    return StackCost(
        stack=shelf.tag,
        campaign=shelf.main or "",
        rounds=sum(r.campaign == shelf.main for r in shelf.rounds),
        best=best,
        best_any=None if best_any == best else best_any,
        best_each_us=fsum(us * load.share for us, load in zip(known, loads, strict=True))
        if len(known) == len(each)
        else None,
        loads=loads,
        backends=tuple(sorted((p.told for p in priced.values()), key=_rank)),
        choices=tuple(choices),
    )


def _rank(cost: BackendCost) -> tuple[bool, bool, float, str]:
    """Sort by cost, those of a model after those by rounds, and those without one last."""
    return cost.step_us is None, not cost.source.by_rounds, cost.step_us or 0.0, cost.backend


def _load_bests(deployment: Deployment, priced: Mapping[str, Priced]) -> Iterator[LoadBest]:
    rivals = [p.told for p in priced.values()]
    rivals = [t for t in rivals if not t.chooses and t.layout is Layout.PAGED]
    for number, (load, share) in enumerate(zip(deployment.loads, shares(deployment), strict=True)):
        known = [
            (part.step_us, told.backend)
            for told in rivals
            if (part := told.parts[number]).source.by_rounds and part.step_us is not None
        ]
        best_us, best = min(known, default=(None, None))
        lengths = load.batch.kv_lens
        yield LoadBest(load.name, share, len(lengths), sum(lengths), max(lengths), best, best_us)


def _exit_code(cost: StackCost) -> ExitCode:
    """Pass if all of what is wanted was measured, or tried and cannot run."""
    wanted = [told for told in cost.backends if told.wanted]
    unknown = {Source.NOTHING, Source.MODEL}
    lacking = any(part.source in unknown for told in wanted for part in told.parts)
    return ExitCode.NO_DATA if lacking or cost.best is None else ExitCode.PASS


def _told(deployment: Deployment) -> ProfileTold:
    shape = deployment.shape
    return ProfileTold(
        name=deployment.name,
        mode=deployment.mode,
        tp=deployment.tp,
        layers=deployment.layers,
        q_heads=shape.q_heads,
        kv_heads=shape.kv_heads,
        head_dim=shape.head_dim,
        dtype=shape.dtype,
        kv_dtype=shape.kv_dtype,
        page_size=shape.page_size,
        steps=deployment.steps,
        loads=len(deployment.loads),
    )


def _warnings(
    deployment: Deployment,
    every: Mapping[str, Sequence[Round]],
    usable: Mapping[str, Sequence[Round]],
) -> Iterator[str]:
    for tag, rounds in every.items():
        if aside := len(rounds) - len(usable[tag]):
            yield f"{counted(aside, 'round')} of {tag} in which `ab` looked again: not used"
    priced = sum(int(load.weight) for load in deployment.loads)
    if deployment.steps > priced:
        yield f"the trace has {deployment.steps:,} steps: {priced:,} at equal distances are priced"
