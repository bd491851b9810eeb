"""Replaying a run: from its round files to the next stage to measure, or to findings.

A pure function of round files and configuration. A run that was broken off goes on because the
replay asks for what is missing; a finished one can be judged again at any time.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from regress.config import Config
from regress.detect.confirm import detect_confirmed
from regress.detect.screen import Look, Screened, equal_finding, look_at
from regress.model.cell import Cell, Side
from regress.model.finding import Finding, Metric, RoundIds, Series
from regress.model.reason import REASONS, Reason, ReasonCode
from regress.model.run import StageTold
from regress.pipeline.ab.runs import CONFIRM, FIRST, SCREEN, Run, Stage
from regress.pipeline.cells import index
from regress.pipeline.noise import Noise
from workloads.record import Case

__all__ = ["Need", "Replay", "first_stage", "replay"]


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

    @property
    def first(self) -> bool:
        """Whether it is the stage that measures every case."""
        return self.stage == FIRST


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


def _stage_names(config: Config) -> tuple[str, ...]:
    """Return the names of all stages, in order."""
    return (*(f"{SCREEN}{n}" for n, _ in enumerate(config.ab.looks, 1)), CONFIRM)


def first_stage(cases: Iterable[Case], config: Config) -> Need:
    """Return what a new run measures first: every case."""
    blocks = config.ab.looks[0]
    return Need(FIRST, blocks, tuple(range(1, blocks + 1)), tuple(cases))


def replay(run: Run, wanted: Mapping[Case, str], noise: Noise, config: Config) -> Replay:
    """Go through the stages as far as the rounds reach.

    Parameters
    ----------
    wanted
        Every case of the run with its family.
    """
    told = Replay()
    sizes = (config.ab.looks[0], *(b - a for a, b in pairwise(config.ab.looks)))
    still, suspects = tuple(wanted), list[Case]()
    screened: list[Stage] = []
    for name, blocks in zip(_stage_names(config), sizes, strict=False):
        if not still:
            break
        stage = run.stages.get(name)
        told.need = _need(name, blocks, still, stage)
        if stage is None or told.need is not None:
            told.findings += _undecided([*suspects, *still], wanted, told.need)
            return told
        screened.append(stage)
        cells = _cells(still, wanted, screened, noise)
        looks = [(cell, look_at(cell, config)) for cell in cells]
        told.findings += (
            equal_finding(cell, seen, config)
            for cell, seen in looks
            if seen and seen.outcome is Screened.EQUAL
        )
        told.stages.append(_told(stage, (seen for _, seen in looks)))
        suspects += _with(looks, Screened.SUSPECT)
        still = tuple(_with(looks, Screened.OPEN))
    if suspects or still:
        stage, cases = run.stages.get(CONFIRM), sorted({*suspects, *still})
        fresh = [stage] if stage else []
        cells = _cells(cases, wanted, fresh, noise)
        every = _cells(cases, wanted, [*screened, *fresh], noise)
        _confirm(told, stage, cells, every, config)
    return told


def _cells(
    cases: Iterable[Case], wanted: Mapping[Case, str], stages: Sequence[Stage], noise: Noise
) -> tuple[Cell, ...]:
    """Make the cells of some cases; the whole blocks of these stages are compared."""
    pairs = [pair for stage in stages for pair in stage.whole.values()]
    base, head = (index(pair[n] for pair in pairs) for n in (0, 1))
    return tuple(
        Cell(
            case,
            wanted[case],
            Side(base.get(case, ()), base.get(case, ())),
            Side(head.get(case, ()), head.get(case, ())),
            block=False,
            noise=noise.of(case),
        )
        for case in cases
    )


def _need(name: str, blocks: int, cases: tuple[Case, ...], stage: Stage | None) -> Need | None:
    """Return what is missing of a stage; a stage that has begun keeps the blocks it planned."""
    if stage is None:
        return Need(name, blocks, tuple(range(1, blocks + 1)), cases)
    held = tuple(case for case in cases if case in stage.cases) or cases
    return Need(name, stage.blocks, stage.missing, held) if stage.missing else None


def _with(looks: Iterable[tuple[Cell, Look | None]], outcome: Screened) -> Iterator[Case]:
    return (cell.case for cell, seen in looks if seen and seen.outcome is outcome)


def _told(stage: Stage, looks: Iterable[Look | None]) -> StageTold:
    counts = Counter(seen.outcome if seen else None for seen in looks)
    return StageTold(
        name=stage.name,
        rounds=len(stage.whole),
        cells=counts.total(),
        equal=counts[Screened.EQUAL],
        suspect=counts[Screened.SUSPECT],
        open=counts[Screened.OPEN],
        without_time=counts[None],
        seconds=_seconds(stage),
    )


def _seconds(stage: Stage) -> float:
    return round(sum(r.seconds.get("total", 0.0) for r in stage.every), 1)


def _confirm(
    told: Replay,
    stage: Stage | None,
    cells: Sequence[Cell],
    every: Sequence[Cell],
    config: Config,
) -> None:
    """Decide about the suspects: `cells` have their fresh rounds, `every` all of them."""
    cases = tuple(cell.case for cell in cells)
    told.need = _need(CONFIRM, config.ab.confirm_rounds, cases, stage)
    families = {cell.case: cell.family for cell in cells}
    if stage is None or told.need is not None:
        told.findings += _undecided(cases, families, told.need)
        return
    timed = [n for n, cell in enumerate(cells) if look_at(cell, config)]
    pairs = [[side[n] for n in timed] for side in (cells, every)]
    findings = list(detect_confirmed(pairs[0], pairs[1], config))
    told.findings += findings
    told.findings += _undecided([c for c in cases if c not in stage.cases], families, None)
    equal = sum(f.reason.code is ReasonCode.EQUIVALENT for f in findings)
    told.stages.append(
        StageTold(
            name=CONFIRM,
            rounds=len(stage.whole),
            cells=len(cells),
            equal=equal,
            suspect=len(timed) - equal,
            open=0,
            without_time=len(cells) - len(timed),
            seconds=_seconds(stage),
        )
    )


def _undecided(
    cases: Iterable[Case], families: Mapping[Case, str], need: Need | None
) -> Iterator[Finding]:
    """Say of cases that wait for rounds which ones are missing: that is no pass."""
    lacks = "no confirming round holds it"
    if need is not None:
        lacks = f"stage {need.stage} lacks block {', '.join(map(str, need.todo))} of {need.blocks}"
    for case in cases:
        yield Finding(
            detector="ab",
            family=families[case],
            series=Series(case, Metric.KERNEL_TIME),
            verdict=REASONS[ReasonCode.MISSING_ROUND].verdict,
            reason=Reason(ReasonCode.MISSING_ROUND, lacks),
            rounds=RoundIds((), ()),
        )
