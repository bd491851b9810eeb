"""The whole of `check`: two stack tags in, a report out."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain

from regress.config import Config
from regress.counted import counted
from regress.detect import DETECTORS
from regress.errors import NoDataError, UsageError
from regress.gate import cell_verdicts
from regress.model.cell import Cell
from regress.model.report import CheckReport
from regress.pipeline.ab.runs import is_whole
from regress.pipeline.aside import left_aside
from regress.pipeline.cells import build_cells, index
from regress.pipeline.compose import Judged, compose, set_aside
from regress.pipeline.doubts import doubts, passed_over
from regress.pipeline.missing import mark_missing, missing_rounds
from regress.pipeline.noise import Noise, calibrated_noise, first_start
from regress.pipeline.request import ANY_TIER, AUTO_TIER, Request
from regress.pipeline.thresholds.bisect import BISECT
from regress.store.rounds import Loaded, load_machine
from regress.store.setup import comparable, setup
from regress.store.tree import load_known_tags, scan
from workloads.record import Round

__all__ = ["cells_of", "check", "whole_rounds"]


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
        msg = f"base and head are both {base}: name two stacks, or compare its nights by --since"
        raise UsageError(msg)
    tree = scan(request.roots)
    machine = tree.choose_machine((base, head), request.machine, load_known_tags())
    loaded = load_machine(tree, machine)
    shared = comparable(*(whole_rounds(loaded, tag) for tag in (base, head)))
    usable = {
        tag: tuple(r for r in rounds if setup(r) == shared and is_whole(r))
        for tag, rounds in loaded.rounds.items()
    }
    sides = usable.pop(base), usable.pop(head)
    asked, request = request.tier, request.settle(*sides)
    cells = cells_of(sides, usable.values(), request, config)
    pair, wanted = (base, head), {cell.case: cell.family for cell in cells}
    findings = [finding for detect in DETECTORS for finding in detect(cells, config)]
    findings += missing_rounds(chain(*sides), pair, wanted)
    verdicts = cell_verdicts(findings)
    warnings = (
        *loaded.warnings,
        *set_aside(loaded, shared, pair),
        *_left_out(loaded, pair),
        *left_aside(loaded.rounds, pair, wanted, verdicts, config),
        *(passed_over(request.tier, sides) if asked == AUTO_TIER else ()),
        *doubts(cells, sides),
    )
    judged = Judged(request, pair, machine, shared, sides, cells, findings, warnings)
    return compose(judged, loaded.rounds, config)


def whole_rounds(loaded: Loaded, tag: str) -> tuple[Round, ...]:
    """Return the rounds of a stack that hold more than what looked odd.

    Raises
    ------
    NoDataError
        If there are none.
    """
    whole = tuple(r for r in loaded.of(tag) if is_whole(r))
    if not whole:
        msg = (
            f"stack {tag} has only rounds of a few cells, in which `ab` looked again "
            "(`ab --judge` judges those) or `thresholds` bisected: measure a tier"
        )
        raise NoDataError(msg)
    return whole


def _left_out(loaded: Loaded, pair: tuple[str, str]) -> Iterator[str]:
    """Tell of rounds that hold only what looked odd: taken for themselves they cry wolf."""
    partial = [r for tag in pair for r in loaded.rounds[tag] if not is_whole(r)]
    bisected = sum(bool(r.design and r.design.stage.startswith(BISECT)) for r in partial)
    if bisected:
        yield f"{counted(bisected, 'round')} in which `thresholds` bisected: not compared here"
    number = len(partial) - bisected
    if number:
        yield (
            f"{counted(number, 'round')} in which `ab` looked again at some cells: not compared "
            "here; `regress ab --judge` does"
        )


def cells_of(
    sides: tuple[Sequence[Round], Sequence[Round]],
    others: Iterable[Sequence[Round]],
    request: Request,
    config: Config,
) -> tuple[Cell, ...]:
    """Return the wanted cells of two sides; `others` are rounds that only tell noise.

    Raises
    ------
    UsageError
        If the request fits no case, or a stored calibration is damaged.
    """
    base, head = map(index, sides)
    wanted = request.cases((*base, *head))
    noise = Noise(
        (base, head),
        cache(lambda: tuple(map(index, others))),
        config.noise,
        calibrated_noise(setup(sides[0][0]), first_start(*sides), or_first=True),
    )
    cells = build_cells(wanted, base, head, noise)
    return mark_missing(cells, *sides, hand_picked=request.tier == ANY_TIER)
