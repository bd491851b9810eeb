"""The whole of `check`: two stack tags in, a report out."""

from collections.abc import Iterable, Sequence

from regress.config import Config
from regress.counted import counted
from regress.detect import DETECTORS
from regress.errors import UsageError
from regress.gate import cell_verdicts, gate, worst_first
from regress.model.cell import Cell, Observation
from regress.model.finding import Finding, Metric, RoundIds
from regress.model.report import CHECK_SCHEMA, Blind, CheckReport, Unmeasured
from regress.pipeline.accept import accept, pinned
from regress.pipeline.aside import left_aside
from regress.pipeline.cells import build_cells, index
from regress.pipeline.doubts import doubts, passed_over
from regress.pipeline.missing import mark_missing
from regress.pipeline.request import ANY_TIER, AUTO_TIER, Request
from regress.store.rounds import Loaded, load_machine
from regress.store.setup import Setup, comparable, setup
from regress.store.tree import load_known_tags, scan
from workloads.record import Round

__all__ = ["check"]


def check(base: str, head: str, request: Request, config: Config) -> CheckReport:
    """Compare two stacks cell by cell.

    Raises
    ------
    UsageError
        If the request or a round file is wrong, or the sides may not be compared.
    NoDataError
        If a stack was not measured.
    """
    if base == head:
        msg = f"base and head are both {base}: name two stacks"
        raise UsageError(msg)
    tree = scan(request.roots)
    machine = tree.choose_machine((base, head), request.machine, load_known_tags())
    loaded = load_machine(tree, machine)
    shared = comparable(loaded.of(base), loaded.of(head))
    usable = {
        tag: tuple(r for r in rounds if setup(r) == shared) for tag, rounds in loaded.rounds.items()
    }
    sides = usable.pop(base), usable.pop(head)
    asked, request = request.tier, request.settle(*sides)
    cells = _cells(sides, usable.values(), request, config)
    shown = [finding for detect in DETECTORS for finding in detect(cells, config)]
    wanted, pair = {cell.case: cell.family for cell in cells}, (base, head)
    findings, waivers = accept(shown, request, pair, loaded.rounds, wanted, config)
    verdicts = cell_verdicts(findings)
    verdict, exit_code = gate(verdicts)
    return CheckReport(
        schema=CHECK_SCHEMA,
        command=request.command,
        base=base,
        head=head,
        machine=machine,
        setup=dict(shared),
        tier=request.tier,
        pattern=request.pattern,
        verdict=verdict,
        exit_code=exit_code,
        cells=verdicts,
        findings=worst_first(findings),
        unmeasured=_unmeasured(cells),
        blind=_blind(findings, config),
        rounds=RoundIds(*(tuple(r.id for r in side) for side in sides)),
        warnings=(
            *loaded.warnings,
            *_set_aside(loaded, shared, pair),
            *left_aside(loaded.rounds, pair, wanted, cell_verdicts(shown), config),
            *(passed_over(request.tier, sides) if asked == AUTO_TIER else ()),
            *doubts(cells, sides),
        ),
        waiver_file=request.waivers.source if request.waivers else None,
        waivers=waivers,
        pinned=pinned(head),
    )


def _cells(
    sides: tuple[Sequence[Round], Sequence[Round]],
    others: Iterable[Sequence[Round]],
    request: Request,
    config: Config,
) -> tuple[Cell, ...]:
    base, head = map(index, sides)
    wanted = request.cases((*base, *head))
    cells = build_cells(wanted, base, head, map(index, others), config)
    return mark_missing(cells, *sides, hand_picked=request.tier == ANY_TIER)


def _unmeasured(cells: Iterable[Cell]) -> tuple[Unmeasured, ...]:
    return tuple(
        Unmeasured(cell.case, _why(cell.base.every), _why(cell.head.every))
        for cell in cells
        if cell.base.every
        and cell.head.every
        and not any(o.measured for o in (*cell.base.every, *cell.head.every))
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


def _set_aside(loaded: Loaded, shared: Setup, tags: Sequence[str]) -> list[str]:
    lines = []
    for tag in tags:
        others = [r.id for r in loaded.rounds[tag] if setup(r) != shared]
        if others:
            lines.append(
                f"{counted(len(others), 'round')} of {tag} with another set-up: not compared"
            )
    return lines
