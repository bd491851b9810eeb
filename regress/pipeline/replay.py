"""Replaying a run: from its round files to the next stage to measure, or to findings.

A pure function of round files and configuration. A run that was broken off goes on because the
replay asks for what is missing; a finished one can be judged again at any time.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from regress.config import Config
from regress.detect.confirm import detect_confirmed
from regress.detect.screen import Look, Screened, equal_finding, look_at
from regress.model.cell import Cell, Side
from regress.model.finding import Finding, Metric, RoundIds, Series
from regress.model.reason import REASONS, Reason, ReasonCode
from regress.model.run import StageTold
from regress.pipeline.cells import index
from regress.pipeline.noise import Noise
from regress.pipeline.runs import Run, Stage
from workloads.record import Case, Round

__all__ = ["CONFIRM", "Need", "Replay", "first_stage", "replay", "stage_names"]

CONFIRM: Final = "confirm"


@dataclass(frozen=True, slots=True)
class Need:
    """What must be measured before more can be decided.

    Attributes
    ----------
    blocks, todo
        Blocks of the stage, and the numbers of those that are missing.
    """

    stage: str
    blocks: int
    todo: tuple[int, ...]
    cases: tuple[Case, ...]


@dataclass(slots=True)
class Replay:
    """What a run says so far.

    Attributes
    ----------
    need
        What is missing; None if the run is finished.
    findings
        About times and spreads; cases that are not decided have none yet.
    stages
        What became of the cells in each stage.
    """

    need: Need | None = None
    findings: list[Finding] = field(default_factory=list)
    stages: list[StageTold] = field(default_factory=list)


def stage_names(config: Config) -> tuple[str, ...]:
    """Return the names of all stages, in order."""
    return (*(f"screen-{n}" for n, _ in enumerate(config.ab.looks, 1)), CONFIRM)


def first_stage(cases: Iterable[Case], config: Config) -> Need:
    """Return what a new run measures first: every case."""
    blocks = config.ab.looks[0]
    return Need(stage_names(config)[0], blocks, tuple(range(1, blocks + 1)), tuple(cases))


def replay(run: Run, wanted: Mapping[Case, str], noise: Noise, config: Config) -> Replay:
    """Go through the stages as far as the rounds reach.

    Parameters
    ----------
    wanted
        Every case of the run with its family.
    """
    told = Replay()
    sizes = (config.ab.looks[0], *(b - a for a, b in pairwise(config.ab.looks)))
    cells = _Cells(run, wanted, noise)
    still, suspects = tuple(wanted), list[Case]()
    screened: list[Stage] = []
    for name, blocks in zip(stage_names(config), sizes, strict=False):
        if told.need is not None or not still:
            break
        stage = run.stages.get(name)
        told.need = _need(name, blocks, still, stage)
        if stage is None or told.need is not None:
            break
        screened.append(stage)
        looks = {case: look_at(cells.of(case, screened), config) for case in still}
        for case, seen in looks.items():
            if seen and seen.outcome is Screened.EQUAL:
                told.findings.append(equal_finding(cells.of(case, screened), seen, config))
        told.stages.append(_told(stage, looks))
        suspects += _with(looks, Screened.SUSPECT)
        still = tuple(_with(looks, Screened.OPEN))
    if told.need is None and (suspects or still):
        _confirm(told, run, cells, tuple(sorted({*suspects, *still})), config)
    if told.need is not None:
        told.findings += _missing(told.need, cells)
    return told


@dataclass(frozen=True, slots=True)
class _Cells:
    """Makes the cells of a run."""

    run: Run
    wanted: Mapping[Case, str]
    noise: Noise

    def of(self, case: Case, stages: Sequence[Stage]) -> Cell:
        """Return a case's cell; the whole blocks of these stages are compared."""
        pairs = [pair for stage in stages for pair in stage.whole.values()]
        base, head = (_side([pair[n] for pair in pairs], case) for n in (0, 1))
        return Cell(case, self.wanted[case], base, head, block=False, noise=self.noise.of(case))


def _side(rounds: Sequence[Round], case: Case) -> Side:
    found = index(rounds).get(case, ())
    return Side(found, found)


def _need(name: str, blocks: int, cases: tuple[Case, ...], stage: Stage | None) -> Need | None:
    """Return what is missing of a stage; a stage that has begun keeps the blocks it planned."""
    if stage is None:
        return Need(name, blocks, tuple(range(1, blocks + 1)), cases)
    held = tuple(case for case in cases if case in stage.cases)
    return Need(name, stage.blocks, stage.missing, held) if stage.missing else None


def _with(looks: Mapping[Case, Look | None], outcome: Screened) -> Iterator[Case]:
    return (case for case, seen in looks.items() if seen and seen.outcome is outcome)


def _told(stage: Stage, looks: Mapping[Case, Look | None]) -> StageTold:
    counts = Counter(seen.outcome if seen else None for seen in looks.values())
    return StageTold(
        name=stage.name,
        rounds=len(stage.whole),
        cells=len(looks),
        equal=counts[Screened.EQUAL],
        suspect=counts[Screened.SUSPECT],
        open=counts[Screened.OPEN],
        without_time=counts[None],
        seconds=_seconds(stage),
    )


def _seconds(stage: Stage) -> float:
    return round(sum(r.seconds.get("total", 0.0) for r in stage.every), 1)


def _confirm(
    told: Replay, run: Run, cells: _Cells, suspects: tuple[Case, ...], config: Config
) -> None:
    stage = run.stages.get(CONFIRM)
    told.need = _need(CONFIRM, config.ab.confirm_rounds, suspects, stage)
    if stage is None or told.need is not None:
        return
    fresh = [cells.of(case, [stage]) for case in suspects]
    timed = [cell for cell in fresh if look_at(cell, config)]
    findings = list(detect_confirmed(timed, config))
    told.findings += findings
    equal = sum(f.reason.code is ReasonCode.EQUIVALENT for f in findings)
    told.stages.append(
        StageTold(
            name=CONFIRM,
            rounds=len(stage.whole),
            cells=len(fresh),
            equal=equal,
            suspect=len(timed) - equal,
            open=0,
            without_time=len(fresh) - len(timed),
            seconds=_seconds(stage),
        )
    )


def _missing(need: Need, cells: _Cells) -> Iterator[Finding]:
    """Say of every case that is not decided which rounds are missing: that is no pass."""
    numbers = ", ".join(map(str, need.todo))
    for case in need.cases:
        yield Finding(
            detector="ab",
            family=cells.wanted[case],
            series=Series(case, Metric.KERNEL_TIME),
            verdict=REASONS[ReasonCode.MISSING_ROUND].verdict,
            reason=Reason(
                ReasonCode.MISSING_ROUND,
                f"stage {need.stage} lacks block {numbers} of {need.blocks}",
            ),
            rounds=RoundIds((), ()),
        )
