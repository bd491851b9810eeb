"""The whole of `thresholds`: one or two stack tags in, a report out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from regress.config import Config
from regress.counted import counted
from regress.detect.shape import detect_shapes
from regress.detect.shape_plateau import detect_plateau
from regress.detect.threshold import numbers_of
from regress.detect.threshold_findings import Judged, detect_thresholds
from regress.errors import NoDataError, UsageError, worst
from regress.model.finding import RoundIds
from regress.model.line import Axis, Line
from regress.model.shape import ShapeFinding
from regress.model.thresholds import (
    THRESHOLDS_SCHEMA,
    AxisNumbers,
    StackPair,
    ThresholdFinding,
    ThresholdsReport,
)
from regress.model.verdict import EXIT_CODES, WORST_FIRST, Verdict, join
from regress.pipeline.request import Request
from regress.pipeline.thresholds.curves import curves_of
from regress.pipeline.thresholds.lines import Found, lines_of, sort_rounds
from regress.pipeline.thresholds.predict import predicted_of
from regress.store.rounds import load_machine
from regress.store.setup import Setup, comparable, setup
from regress.store.tree import load_known_tags, scan
from workloads.record import Case, Round

__all__ = ["Sides", "load_sides", "thresholds"]


@dataclass(frozen=True, slots=True)
class Sides:
    """The rounds of the stacks in question that share a set-up.

    Attributes
    ----------
    rounds
        By tag, base first.
    warnings
        What was left aside.
    """

    stacks: StackPair
    machine: str
    setup: Setup
    rounds: Mapping[str, Sequence[Round]]
    warnings: tuple[str, ...]


def thresholds(
    stacks: StackPair, request: Request, config: Config, *, run: str | None = None
) -> ThresholdsReport:
    """Find each planner's threshold, and what became of it.

    Parameters
    ----------
    run
        Only rounds of this run count, e.g. those of a bisection; None for all.

    Raises
    ------
    UsageError
        If the request or a round file is wrong.
    NoDataError
        If a stack was not measured, or its rounds hold no line.
    """
    sides = load_sides(stacks, request, run)
    found = {tag: sort_rounds(rounds) for tag, rounds in sides.rounds.items()}
    wanted = request.cases(dict.fromkeys(case for cases in found.values() for case in cases))
    found = {
        tag: {case: record for case, record in cases.items() if case in wanted}
        for tag, cases in found.items()
    }
    lines = {tag: lines_of(cases) for tag, cases in found.items()}
    axes = list(dict.fromkeys(axis for of_tag in lines.values() for axis in of_tag))
    if not axes:
        tags = " and ".join(found)
        msg = (
            f"no wanted case of {tags} lies on a line of growing batches: measure the tier "
            "nightly or sweep, or use --bisect"
        )
        raise NoDataError(msg)
    judged = [_judged(axis, lines, found, sides, config) for axis in sorted(axes)]
    findings = _worst_first(f for j in judged for f in detect_thresholds(j, config.thresholds))
    counting = [f.verdict for f in findings if f.gates]
    return ThresholdsReport(
        schema=THRESHOLDS_SCHEMA,
        command=request.command,
        stacks=stacks,
        machine=sides.machine,
        setup=dict(sides.setup),
        verdict=join(counting) if counting else Verdict.NO_DATA,
        exit_code=worst(EXIT_CODES[v] for v in counting or (Verdict.NO_DATA,)),
        axes=tuple(j.numbers for j in judged),
        findings=findings,
        shapes=_shapes(found, lines[stacks.head], stacks, config),
        warnings=(*sides.warnings, *_mixed(lines)),
    )


def load_sides(stacks: StackPair, request: Request, run: str | None = None) -> Sides:
    """Read the rounds of one or two stacks, of one run alone if it is given.

    Raises
    ------
    UsageError
        If both are one, or a round file is wrong.
    NoDataError
        If a stack was not measured.
    """
    if stacks.base == stacks.head:
        msg = f"base and head are both {stacks.head}: name two stacks, or one alone"
        raise UsageError(msg)
    tags = (stacks.head,) if stacks.base is None else (stacks.base, stacks.head)
    tree = scan(request.roots)
    machine = tree.choose_machine(tags, request.machine, load_known_tags())
    loaded = load_machine(tree, machine)
    every = {tag: [r for r in loaded.of(tag) if run in {None, _run_of(r)}] for tag in tags}
    shared = comparable(every[tags[0]], every[tags[-1]])
    rounds = {tag: [r for r in found if setup(r) == shared] for tag, found in every.items()}
    return Sides(stacks, machine, shared, rounds, (*loaded.warnings, *_aside(every, rounds)))


def _run_of(found: Round) -> str | None:
    return found.design.run if found.design else None


def _aside(
    every: Mapping[str, Sequence[Round]], rounds: Mapping[str, Sequence[Round]]
) -> Iterator[str]:
    for tag, used in rounds.items():
        others = len(every[tag]) - len(used)
        if others:
            yield f"{counted(others, 'round')} of {tag} with another set-up: not used"


def _judged(
    axis: Axis,
    lines: Mapping[str, Mapping[Axis, Line]],
    found: Mapping[str, Mapping[Case, Found]],
    sides: Sides,
    config: Config,
) -> Judged:
    stacks = sides.stacks
    points = (p for of_tag in lines.values() if axis in of_tag for p in of_tag[axis].points)
    every = [axis.case(p.batch) for p in points]
    refused = (
        tag
        for tag, cases in found.items()
        if axis not in lines[tag] and any(case in cases for case in every)
    )
    ours = {tag: lines[tag][axis] for tag in lines if axis in lines[tag]}
    rule = config.thresholds
    numbers = {
        tag: numbers_of(line, predicted_of(axis, sides.rounds[tag], rule), rule)
        for tag, line in ours.items()
    }
    base_tag = stacks.base or ""
    ids = [ours[tag].rounds if tag in ours else () for tag in (base_tag, stacks.head)]
    told = AxisNumbers(
        axis=axis,
        base=numbers.get(base_tag),
        head=numbers.get(stacks.head),
    )
    return Judged(told, stacks, RoundIds(*ids), frozenset(refused))


def _worst_first(findings: Iterable[ThresholdFinding]) -> tuple[ThresholdFinding, ...]:
    def rank(finding: ThresholdFinding) -> tuple[bool, int, Axis, str]:
        order = WORST_FIRST.index(finding.verdict)
        return not finding.gates, order, finding.axis, finding.detector

    return tuple(sorted(findings, key=rank))


def _shapes(
    found: Mapping[str, Mapping[Case, Found]],
    lines: Mapping[Axis, Line],
    stacks: StackPair,
    config: Config,
) -> tuple[ShapeFinding, ...]:
    base = curves_of(found[stacks.base]) if stacks.base is not None else None
    rule = config.thresholds
    return (
        *detect_shapes(curves_of(found[stacks.head]), base, rule),
        *detect_plateau(lines.values(), rule),
    )


def _mixed(lines: Mapping[str, Mapping[Axis, Line]]) -> Iterator[str]:
    for tag, of_tag in lines.items():
        for axis, line in of_tag.items():
            if line.mixed:
                batches = ", ".join(map(str, line.mixed))
                yield f"{tag}: rounds planned {axis} differently at batch {batches}: not used there"
