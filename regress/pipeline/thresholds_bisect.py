"""Bisection on the GPU: which batches to measure next is decided here, from plan facts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from regress.config import ThresholdsRule
from regress.detect.threshold_bisect import next_batches
from regress.errors import UsageError
from regress.model.line import UNIFORM, Axis
from regress.pipeline.lines import axis_of, parsed, sort_rounds, splits_of
from regress.pipeline.thresholds_predict import predicted_of
from regress.store.rounds import load_machine
from regress.store.tree import scan
from workloads.record import Case, Round
from workloads.stage import StagePlan

__all__ = ["STAGE", "Search", "axes_through", "bisect"]

STAGE = "bisect-"
"""What the names of its stages begin with; a number follows."""


@dataclass(frozen=True, slots=True)
class Search:
    """How the batches of a bisection are to be measured.

    Attributes
    ----------
    measure
        Measures a stage and returns when its round is written.
    directory
        Where round files go.
    run
        Id of this bisection.
    machine
        The user's name for this machine; None to make one from the GPU model.
    """

    measure: Callable[[StagePlan], None]
    directory: Path
    run: str
    machine: str | None = None


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
    its batches, is left as it is.

    Raises
    ------
    UsageError
        If measuring fails.
    """
    rounds: tuple[Round, ...] = ()
    step = 0
    while True:
        tried = {axis: _next(axis, rounds, rule) for axis in axes}
        cases = [
            axis.case(batch, distribution)
            for axis, batches in tried.items()
            for batch in batches
            for distribution in (UNIFORM, axis.distribution)
        ]
        if not cases:
            return rounds
        step += 1
        search.measure(_plan(stack, step, cases, search))
        before, rounds = len(rounds), _rounds_of(search, stack)
        if len(rounds) == before:
            msg = f"{STAGE}{step} was measured and still has no round in {search.directory}"
            raise UsageError(msg)


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


def _plan(stack: str, step: int, cases: Sequence[Case], search: Search) -> StagePlan:
    return StagePlan(
        run=search.run,
        stage=f"{STAGE}{step}",
        stacks=(stack,),
        blocks=1,
        todo=(1,),
        campaign=search.run,
        tier="custom",
        cases=tuple(dict.fromkeys(cases)),
        directory=str(search.directory.resolve()),
        machine=search.machine,
    )


def _rounds_of(search: Search, stack: str) -> tuple[Round, ...]:
    tree = scan((search.directory,))
    machines = {machine for machine, tag in tree.files if tag == stack}
    return tuple(
        r
        for machine in sorted(machines)
        for r in load_machine(tree, machine).rounds[stack]
        if r.design is not None and r.design.run == search.run
    )
