"""The whole of `ab`: measure two stacks in stages until every cell is decided, and report.

The state of a run is its round files and nothing else, so it can be broken off at any point.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from regress.errors import NoDataError, UsageError
from regress.model.report import CheckReport
from regress.pipeline.ab.replay import Need, first_stage
from regress.pipeline.ab.report import report_run
from regress.pipeline.ab.runs import CONFIRM, Run
from regress.pipeline.ab.state import Sought, State, find_state
from regress.store.tree import load_known_tags, scan
from workloads.record import Case
from workloads.stage import StagePlan

__all__ = ["Measure", "Order", "ab", "judge_run"]

Measure = Callable[[StagePlan], None]
"""Measures a stage and returns when its rounds are written."""


@dataclass(frozen=True, slots=True)
class Order:
    """How the rounds of a run are to be measured.

    Attributes
    ----------
    measure
        Does it.
    directory
        Where round files go; one of the request's roots.
    run
        Id of a new run.
    anew
        Whether to leave a run that was broken off as it is.
    """

    measure: Measure
    directory: Path
    run: str
    anew: bool = False


def ab(sought: Sought, order: Order) -> CheckReport:
    """Measure until the run is finished; a run of the same cells that was broken off goes on.

    Raises
    ------
    UsageError
        If the request is wrong, or measuring fails or makes no progress.
    """
    _check_pair(sought)
    wanted = sought.request.cases(())
    state = None if order.anew else _unfinished(sought, wanted)
    run = state.run.id if state else order.run
    campaign = _stretch(state.run) if state else run
    before: Need | None = None
    while state is None or state.told.need is not None:
        need = (state.told.need if state else None) or first_stage(wanted, sought.config)
        if need == before:
            msg = f"stage {need.stage} was measured and still lacks rounds in {order.directory}"
            raise UsageError(msg)
        order.measure(_plan(need, sought, order, run, campaign))
        state, before = find_state(sought, run), need
    return report_run(state, sought)


def judge_run(sought: Sought, run_id: str | None, *, narrowed: bool = False) -> CheckReport:
    """Judge a run without measuring: the one of this id, or the latest.

    A run is judged as a whole: its error rate is that of all of its cells together.

    Parameters
    ----------
    narrowed
        Whether only a run of just the cases that the request means will do.

    Raises
    ------
    UsageError
        If the request or a round file is wrong.
    NoDataError
        If there is no such run.
    """
    _check_pair(sought)
    state = find_state(sought, run_id, sought.request.cases(()) if narrowed else None)
    if state is None:
        tree, known = scan(sought.request.roots), load_known_tags()
        for tag in (sought.base, sought.head):
            tree.require(tag, known)
        which = "run of `ab`" if run_id is None else f"run {run_id!r}"
        which += " that measured just these cells" if narrowed else ""
        which += f" on {machine}" if (machine := sought.request.machine) else ""
        roots = ", ".join(map(str, sought.request.roots))
        msg = f"no {which} from {sought.base} to {sought.head} under {roots}: measure it first"
        raise NoDataError(msg)
    return report_run(state, sought)


def _check_pair(sought: Sought) -> None:
    if sought.base == sought.head:
        msg = f"base and head are both {sought.base}: name two stacks"
        raise UsageError(msg)


def _unfinished(sought: Sought, wanted: Collection[Case]) -> State | None:
    """Return the latest run of just these cases if it lacks rounds."""
    state = find_state(sought, cases=wanted)
    return state if state and state.told.need else None


def _stretch(run: Run) -> str:
    """Return an unused name for the next stretch of measuring, whatever files are lost."""
    names = (f"{run.id}~{number}" for number in count(len(run.campaigns) + 1))
    return next(name for name in names if name not in run.campaigns)


def _plan(need: Need, sought: Sought, order: Order, run: str, campaign: str) -> StagePlan:
    request = sought.request
    whole = need.first and request.pattern is None and not request.families
    return StagePlan(
        run=run,
        stage=need.stage,
        stacks=(sought.base, sought.head),
        blocks=need.blocks,
        todo=need.todo,
        campaign=campaign,
        tier=request.tier if whole else "custom",
        cases=need.cases,
        directory=str(order.directory.resolve()),
        machine=request.machine,
        mixed=need.stage == CONFIRM,
    )
