"""Comparing two stacks of one stage: which cases differ, and how many rounds that takes."""

from collections.abc import Iterator, Sequence
from math import log1p
from typing import Final

from regress.config import Config
from regress.detect.decide import is_small, ratio_of, strata_of
from regress.detect.evidence import changes
from regress.model.bisection import CaseChange, Unmeasured
from regress.model.cell import Cell, Observation, Side, value
from regress.model.finding import Metric
from regress.model.verdict import Verdict
from regress.pipeline.cells import index
from regress.pipeline.noise import calibrated_noise
from regress.stats.exact import critical, p_greater, swapped
from regress.stats.shift import shift
from regress.store.setup import setup
from workloads.record import Case, Round

__all__ = ["compare", "lacking", "rounds_that_decide"]

_INVERSIONS: Final = 2
_NOT_PLANNED: Final = "no round planned it"
_MOST: Final = 40


def rounds_that_decide(alpha: float) -> int:
    """Return the rounds a stack with which a step can be shown although two pairs are inverted."""
    fitting = (n for n in range(2, _MOST) if (critical(((n, n),), alpha) or 0) >= _INVERSIONS)
    return next(fitting, _MOST)


def compare(
    pair: tuple[Sequence[Round], Sequence[Round]],
    cases: Sequence[Case],
    config: Config,
    alpha: float,
) -> Iterator[CaseChange]:
    """Return the cases that differ beyond the margin of `ab`, campaign by campaign.

    Each direction of each case is tested at `alpha`.

    Parameters
    ----------
    pair
        Rounds of the earlier and of the later stack, of one stage.
    """
    sides = tuple(map(index, pair))
    noise = calibrated_noise(setup(pair[0][0]))
    for case in cases:
        base, head = (Side(side.get(case, ()), side.get(case, ())) for side in sides)
        cell = Cell(case, "", base, head, block=False, noise=noise.get(case, {}))
        if change := _change(cell, config, alpha):
            yield change


def lacking(
    pair: tuple[Sequence[Round], Sequence[Round]],
    cases: Sequence[Case],
    shown: Sequence[CaseChange],
) -> Iterator[Unmeasured]:
    """Return what keeps the other cases from being called equal: rounds of a stack without a time.

    Parameters
    ----------
    shown
        What `compare` said of the same pair: a case that was lost is known, not missing.
    """
    known = {change.case for change in shown}
    for rounds in pair:
        side = index(rounds)
        for case in cases:
            seen = side.get(case, ())
            timed = sum(one.measured for one in seen)
            if case not in known and timed < len(rounds):
                tag = rounds[0].stack.tag
                yield Unmeasured(case, tag, timed, len(rounds), _why(seen))


def _why(seen: Sequence[Observation]) -> str:
    return next((o.record.reason or o.record.status for o in seen if not o.measured), _NOT_PLANNED)


def _change(cell: Cell, config: Config, alpha: float) -> CaseChange | None:
    was, now = (any(o.measured for o in side.chosen) for side in (cell.base, cell.head))
    if was is not now:
        return CaseChange(cell.case, Verdict.GONE if was else Verdict.NEW, None, None)
    pairs = cell.pairs(lambda record: value(record, Metric.KERNEL_TIME))
    if not pairs:
        return None
    small = is_small(pairs, config)
    margin = config.ab.margin.of(cell.noise.get(Metric.KERNEL_TIME), small=small, block=False)
    strata = strata_of(pairs)
    slower, faster = p_greater(strata, log1p(margin)), p_greater(swapped(strata), log1p(margin))
    if min(slower, faster) > alpha:
        return None
    verdict = Verdict.REGRESSION if slower <= alpha else Verdict.IMPROVEMENT
    ratio = ratio_of(shift(strata, config.ab.equivalence_alpha))
    return CaseChange(
        cell.case, verdict, ratio, min(slower, faster), changes(cell, config.evidence)
    )
