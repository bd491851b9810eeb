"""Bisection on the GPU: which batches to measure next is decided here, from plan facts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Final

from regress.config import ThresholdsRule
from regress.detect.threshold_bisect import next_batches
from regress.errors import UsageError
from regress.model.line import UNIFORM, Axis
from regress.pipeline.search import Search
from regress.pipeline.thresholds.lines import axis_of, parsed, sort_rounds, splits_of
from regress.pipeline.thresholds.predict import predicted_of
from regress.store.rounds import load_machine
from regress.store.setup import differences, setup
from regress.store.tree import scan
from workloads.record import Case, Round
from workloads.rehearsal import REHEARSAL
from workloads.stage import StagePlan

__all__ = ["BISECT", "Search", "axes_through", "bisect"]

BISECT: Final = "bisect-"
"""What the names of its stages begin with; a number follows."""


def axes_through(slug: str, backends: Iterable[str]) -> tuple[Axis, ...]:
    """Return the axis of each backend that a workload lies on.

    Raises
    ------
    UsageError
        If it is no skewed decode workload, or there is no such backend.
    """
    workload = parsed(slug)
    found = [axis_of(Case(slug, name), workload) for name in dict.fromkeys(backends)]
    axes = [axis for axis in found if axis is not None]
    if not axes:
        msg = f"{slug} lies on no line: give a decode workload with a skewP or twoP distribution"
        raise UsageError(msg)
    return tuple(axes)


def bisect(
    stack: str, axes: Sequence[Axis], search: Search, rule: ThresholdsRule
) -> tuple[Round, ...]:
    """Measure batches of all axes, one round a step, until each threshold is exact.

    A step tries where the model expects the threshold, once a round has told which GPU this is;
    after a wrong guess it halves what is left. An axis whose plan tells nothing, or that used up
    its batches, is left as it is. A bisection of the same axes that was broken off goes on: its
    state is its round files.

    Returns
    -------
    tuple of Round
        All rounds of the bisection, in order of their start; their design has its id.

    Raises
    ------
    UsageError
        If measuring fails, or goes on with another set-up.
    """
    rounds = () if search.anew else _unfinished(stack, axes, search, rule)
    run = _run_of(rounds[0]) if rounds else search.run
    campaign = _stretch(run, rounds)
    while cases := _open_cases(axes, rounds, rule):
        stage = f"{BISECT}{len(rounds) + 1}"
        search.measure(_plan((run, campaign, stage), stack, cases, search))
        before, rounds = len(rounds), _runs_of(search, stack).get(run, ())
        if len(rounds) == before:
            msg = f"{stage} was measured and still has no round in {search.directory}"
            raise UsageError(msg)
        _check_setup(rounds)
    return rounds


def _unfinished(
    stack: str, axes: Sequence[Axis], search: Search, rule: ThresholdsRule
) -> tuple[Round, ...]:
    """Return the rounds of the latest bisection of just these axes if it is not settled."""
    fitting = [found for found in _runs_of(search, stack).values() if _axes_of(found) == {*axes}]
    latest = max(fitting, key=lambda found: found[0].started_at, default=())
    return latest if _open_cases(axes, latest, rule) else ()


def _axes_of(rounds: Iterable[Round]) -> set[Axis]:
    cases = {record.case for r in rounds for record in r.cases}
    found = (axis_of(case, parsed(case.workload)) for case in cases)
    return {axis for axis in found if axis is not None}


def _stretch(run: str, rounds: Sequence[Round]) -> str:
    """Return a name for this stretch of measuring that no round has."""
    used = {r.campaign for r in rounds}
    names = (f"{run}~{number}" for number in count(len(used) + 1))
    return next(name for name in names if name not in used) if used else run


def _check_setup(rounds: Sequence[Round]) -> None:
    if setup(rounds[-1]) != setup(rounds[0]):
        msg = (
            f"{_run_of(rounds[0])} was begun with another set-up: "
            f"{differences(rounds[0], rounds[-1])}; begin another with --new"
        )
        raise UsageError(msg)


def _open_cases(
    axes: Iterable[Axis], rounds: Sequence[Round], rule: ThresholdsRule
) -> tuple[Case, ...]:
    """Return what the next step measures; nothing if every axis is settled."""
    cases = (
        axis.case(batch, distribution)
        for axis in axes
        for batch in _next(axis, rounds, rule)
        for distribution in (UNIFORM, axis.distribution)
    )
    return tuple(dict.fromkeys(cases))


def _next(axis: Axis, rounds: Sequence[Round], rule: ThresholdsRule) -> tuple[int, ...]:
    planned = _planned(axis, rounds)
    if any(state is None for state in planned.values()):
        return ()
    known = {batch: bool(state) for batch, state in planned.items()}
    predicted = predicted_of(axis, rounds, rule) if rounds else None
    guess = predicted.first if predicted else None
    return next_batches(known, guess, rule)


def _planned(axis: Axis, rounds: Sequence[Round]) -> Mapping[int, bool | None]:
    """Return whether the plan splits the longest request, by batch size; None if nobody tells."""
    found: dict[int, bool | None] = {}
    for case, told in sort_rounds(rounds).items():
        workload = parsed(case.workload)
        if axis_of(case, workload) == axis:
            facts = [record.facts for _, _, record in told.records]
            found[workload.kv.batch] = next((splits_of(f) for f in facts if f), None)
    return found


def _plan(
    names: tuple[str, str, str], stack: str, cases: tuple[Case, ...], search: Search
) -> StagePlan:
    run, campaign, stage = names
    return StagePlan(
        run=run,
        stage=stage,
        stacks=(stack,),
        blocks=1,
        todo=(1,),
        campaign=campaign,
        tier="custom",
        cases=cases,
        directory=str(search.directory.resolve()),
        machine=search.machine,
    )


def _runs_of(search: Search, stack: str) -> dict[str, tuple[Round, ...]]:
    """Return the rounds of every bisection of a stack, by its id, in order of their start."""
    tree = scan((search.directory,))
    machines = {machine for machine, tag in tree.files if tag == stack}
    machines = machines - {REHEARSAL} if search.machine is None else machines & {search.machine}
    runs: dict[str, list[Round]] = defaultdict(list)
    for machine in sorted(machines):
        for r in load_machine(tree, machine).rounds[stack]:
            if r.design is not None and r.design.stage.startswith(BISECT):
                runs[r.design.run].append(r)
    return {run: tuple(sorted(found, key=_start)) for run, found in runs.items()}


def _start(found: Round) -> tuple[str, str]:
    return found.started_at, found.id


def _run_of(found: Round) -> str:
    return found.design.run if found.design else ""
