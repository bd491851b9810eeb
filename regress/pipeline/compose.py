"""From judged cells to a report: waivers, verdicts, exit code, and what else a reader must know."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from regress.config import Config
from regress.counted import counted
from regress.gate import cell_verdicts, gate, worst_first
from regress.model.cell import Cell, Observation
from regress.model.finding import Finding, Metric, RoundIds, Series
from regress.model.rates import ErrorRate
from regress.model.reason import REASONS, Reason, ReasonCode
from regress.model.report import CHECK_SCHEMA, Blind, CheckReport, Unmeasured
from regress.model.run import RunTold
from regress.pipeline.accept import accept, pinned
from regress.pipeline.calibrate.quote import error_rate_of
from regress.pipeline.request import Request
from regress.store.calibration import load_calibration
from regress.store.rounds import Loaded
from regress.store.setup import Setup, setup
from workloads.record import Case, Round

__all__ = ["Judged", "compose", "set_aside"]


@dataclass(frozen=True, slots=True)
class Judged:
    """What was compared, and what the detectors say of it.

    Attributes
    ----------
    pair
        Tags of base and head.
    sides
        All rounds that were looked at.
    run
        What `ab` did; None if the rounds were only read.
    """

    request: Request
    pair: tuple[str, str]
    machine: str
    shared: Setup
    sides: tuple[Sequence[Round], Sequence[Round]]
    cells: Sequence[Cell]
    findings: Sequence[Finding]
    warnings: Sequence[str]
    run: RunTold | None = None

    @property
    def wanted(self) -> dict[Case, str]:
        """Every case with its family."""
        return {cell.case: cell.family for cell in self.cells}


def compose(judged: Judged, every: Mapping[str, Sequence[Round]], config: Config) -> CheckReport:
    """Return the report; `every` are the rounds at hand by stack.

    Raises
    ------
    UsageError
        If the list of stacks cannot be read.
    """
    request, pair = judged.request, judged.pair
    said = (*judged.findings, *_unsaid(judged.cells, judged.findings))
    findings, waivers = accept(said, request, pair, every, judged.wanted, config)
    verdicts = cell_verdicts(findings)
    verdict, exit_code = gate(verdicts, variance_fails=config.spread.fails)
    return CheckReport(
        schema=CHECK_SCHEMA,
        command=request.command,
        base=pair[0],
        head=pair[1],
        machine=judged.machine,
        setup=dict(judged.shared),
        tier=request.tier,
        pattern=request.pattern,
        families=request.families,
        verdict=verdict,
        exit_code=exit_code,
        cells=verdicts,
        findings=worst_first(findings),
        unmeasured=_unmeasured(judged.cells),
        blind=_blind(findings, config),
        rounds=RoundIds(*(tuple(r.id for r in side) for side in judged.sides)),
        warnings=tuple(judged.warnings),
        waiver_file=request.waivers.source if request.waivers else None,
        waivers=waivers,
        pinned=pinned(pair[1]),
        variance_fails=config.spread.fails,
        run=judged.run,
        error_rate=_error_rate(judged, [cell.case for cell in verdicts], config),
    )


def _error_rate(judged: Judged, cases: Collection[Case], config: Config) -> ErrorRate | None:
    told = load_calibration(judged.shared)
    command = "ab" if judged.run else "check"
    return error_rate_of(told, command, config, cases) if told else None


def _unsaid(cells: Iterable[Cell], findings: Iterable[Finding]) -> Iterator[Finding]:
    """Say of cells with times of which no detector says anything that nothing is known of them.

    That happens if base lost the case in all rounds that are compared, and in no others.
    """
    told = {f.series.case for f in findings if f.series.metric is Metric.KERNEL_TIME}
    for cell in cells:
        if cell.case not in told and not _is_unmeasured(cell):
            lost = [o for o in cell.base.every if not o.measured]
            text = "base lost it in every round that could be compared"
            text += f": {_why(lost)}" if lost else ""
            yield Finding(
                detector="coverage",
                family=cell.family,
                series=Series(cell.case, Metric.KERNEL_TIME),
                verdict=REASONS[ReasonCode.TOO_FEW_ROUNDS].verdict,
                reason=Reason(ReasonCode.TOO_FEW_ROUNDS, text),
                rounds=RoundIds(cell.base.ids(every=True), cell.head.ids(every=True)),
            )


def _is_unmeasured(cell: Cell) -> bool:
    """Whether both sides planned a case, and neither has a time."""
    both = cell.base.every and cell.head.every
    return bool(both) and not any(o.measured for o in (*cell.base.every, *cell.head.every))


def _unmeasured(cells: Iterable[Cell]) -> tuple[Unmeasured, ...]:
    return tuple(
        Unmeasured(cell.case, _why(cell.base.every), _why(cell.head.every))
        for cell in cells
        if _is_unmeasured(cell)
    )


def _why(side: Sequence[Observation]) -> str:
    last = side[-1].record
    return f"{last.status}: {last.reason}" if last.reason else str(last.status)


def _blind(findings: Iterable[Finding], config: Config) -> tuple[Blind, ...]:
    floors = [
        f.measured.floor for f in findings if f.measured and f.series.metric is Metric.KERNEL_TIME
    ]
    return tuple(
        Blind(above, sum(floor > above for floor in floors)) for above in config.noise.blind_above
    )


def set_aside(loaded: Loaded, shared: Setup, tags: Sequence[str]) -> list[str]:
    """Tell which rounds of these stacks have another set-up."""
    lines = []
    for tag in tags:
        others = [r.id for r in loaded.rounds[tag] if setup(r) != shared]
        if others:
            lines.append(
                f"{counted(len(others), 'round')} of {tag} with another set-up: not compared"
            )
    return lines
