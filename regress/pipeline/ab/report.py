"""From a run, finished or not, to a report."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from regress.config import Config
from regress.counted import counted
from regress.detect.ab import detect_plan_time
from regress.detect.correctness import detect_correctness
from regress.detect.coverage import detect_coverage
from regress.errors import NoDataError
from regress.model.cell import Cell, Side
from regress.model.report import CheckReport
from regress.model.run import RunTold
from regress.pipeline.ab.state import Sought, State
from regress.pipeline.cells import index
from regress.pipeline.compose import Judged, compose
from regress.pipeline.doubts import doubts
from regress.store.setup import comparable
from workloads.record import Round

__all__ = ["report_run"]


def report_run(state: State, sought: Sought) -> CheckReport:
    """Return the report of a run; what it still lacks is NO_DATA.

    Raises
    ------
    UsageError
        If its rounds were measured with different set-ups.
    NoDataError
        If a stack has no round in it.
    """
    run, config = state.run, sought.config
    sides = run.side(run.base), run.side(run.head)
    if not all(sides):
        msg = f"run {run.id} was broken off in its first block: the same `ab` again goes on"
        raise NoDataError(msg)
    cells = _cells(state)
    findings = (
        *detect_coverage(cells, config),
        *detect_correctness(cells, config),
        *state.told.findings,
        *detect_plan_time(cells, config),
    )
    told = _told(state, config)
    judged = Judged(
        request=replace(sought.request, tier=state.tier, command=_command(state, sought)),
        pair=(run.base, run.head),
        machine=state.machine,
        shared=comparable(*sides),
        sides=sides,
        cells=cells,
        findings=findings,
        warnings=(*state.loaded.warnings, *_leftovers(told), *doubts(cells, sides)),
        run=told,
    )
    return compose(judged, state.loaded.rounds, config)


def _command(state: State, sought: Sought) -> str:
    """Return the command that judges this run again; without its id it might measure anew."""
    given = sought.request.command
    return given if state.run.id in given else f"{given} --run {state.run.id}"


def _cells(state: State) -> tuple[Cell, ...]:
    """Make the cells with everything that was measured of each, for all but kernel times."""
    run = state.run
    whole = {r.id for s in run.stages.values() for pair in s.whole.values() for r in pair}
    sides = [(index(run.side(tag)), run.lacking(tag)) for tag in (run.base, run.head)]
    cells = []
    for case, family in state.wanted.items():
        base, head = (
            Side(
                every=found.get(case, ()),
                chosen=tuple(o for o in found.get(case, ()) if o.round_id in whole),
                lacking=lacking.get(case, ()),
            )
            for found, lacking in sides
        )
        cells.append(Cell(case, family, base, head, block=False, noise=state.noise.of(case)))
    return tuple(cells)


def _told(state: State, config: Config) -> RunTold:
    run = state.run
    last = max(run.rounds, key=_ended_s)
    started = datetime.fromisoformat(run.rounds[0].started_at).timestamp()
    return RunTold(
        id=run.id,
        campaigns=run.campaigns,
        stages=tuple(state.told.stages),
        seconds=round(sum(r.seconds.get("total", 0.0) for r in run.rounds), 1),
        elapsed_s=round(_ended_s(last) - started, 1),
        leftovers=tuple(id_ for stage in run.stages.values() for id_ in stage.leftovers),
        family_alpha=config.ab.family_alpha,
        spread_alpha=config.ab.spread_alpha,
    )


def _ended_s(found: Round) -> float:
    return datetime.fromisoformat(found.started_at).timestamp() + found.seconds.get("total", 0.0)


def _leftovers(told: RunTold) -> Iterator[str]:
    if told.leftovers:
        yield (
            f"{counted(len(told.leftovers), 'round')} of a block that was broken off: "
            "times not compared"
        )
