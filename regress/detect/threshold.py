"""Detector of thresholds: the numbers of one line, from plan facts and from times."""

from collections.abc import Callable, Iterable, Sequence
from statistics import median

from regress.config import ThresholdsRule
from regress.detect.decide import ratio_of
from regress.model.finding import Ratio
from regress.model.line import Line, Point, TimesUs
from regress.model.thresholds import Bracket, Height, Numbers
from regress.stats.shift import logs, shift

__all__ = ["above", "bracket_of", "ends", "numbers_of", "ratio_between"]

_Sure = Callable[[Point], bool | None]


def numbers_of(line: Line, predicted: Bracket | None, rule: ThresholdsRule) -> Numbers:
    """Return what one stack shows along a line, beside what a model predicts."""
    planned = _planned(line.points)
    measured = _measured(line.points, rule)
    known = next((b for b in (planned, measured) if b is not None), None)
    return Numbers(
        planned=planned,
        measured=measured,
        predicted=predicted,
        ramp=_ramp(line.points, known, rule),
        height=_height(line.points, known, rule),
        batches=tuple(p.batch for p in line.points),
        rounds=len(line.rounds),
    )


def bracket_of(states: Iterable[tuple[int, bool | None]]) -> Bracket | None:
    """Return where something ends that is true of small batches, or None if nothing is known.

    States come in rising order of the batch size; unknown ones widen the bracket. Of several ends
    it is the first.
    """
    last: int | None = None
    known = False
    for batch, state in states:
        known = known or state is not None
        if state is False:
            return Bracket(last, batch)
        if state:
            last = batch
    return Bracket(last, None) if known else None


def ratio_between(base: TimesUs, head: TimesUs, alpha: float) -> Ratio | None:
    """Return head over base within the campaigns that hold both, or None if none does."""
    strata = [(logs(base[c]), logs(head[c])) for c in base if c in head]
    return ratio_of(shift(strata, alpha)) if strata else None


def ends(ratio: Ratio, unproved: float) -> tuple[float, float]:
    """Return the interval; where rounds are too few for one, the estimate with an allowance."""
    if ratio.low is None or ratio.high is None:
        return ratio.estimate / (1 + unproved), ratio.estimate * (1 + unproved)
    return ratio.low, ratio.high


def above(ratio: Ratio | None, limit: float, unproved: float) -> bool | None:
    """Whether a ratio is surely above a limit, surely not, or neither."""
    if ratio is None:
        return None
    low, high = ends(ratio, unproved)
    if low > limit:
        return True
    return None if high > limit else False


def _planned(points: Sequence[Point]) -> Bracket | None:
    return bracket_of((p.batch, p.splits) for p in points)


def _measured(points: Sequence[Point], rule: ThresholdsRule) -> Bracket | None:
    """Find where the skewed batch has become as slow as its longest request alone.

    At equal tokens that request is the same in every batch, so from the threshold on time stays
    on a plateau; with two splits it takes about half of that. Without a second batch size on the
    plateau it might be a point of the ramp, and nothing is said.
    """
    timed = [p for p in points if p.skewed_us]
    if not timed:
        return None
    plateau = timed[-1]
    cliff = above(_penalty(plateau, rule), rule.cliff_above, rule.unproved)
    if cliff is None:
        return None
    if not cliff:
        return Bracket(plateau.batch, None)
    alpha = rule.interval_alpha
    ratios = {p.batch: ratio_between(plateau.skewed_us, p.skewed_us, alpha) for p in timed}
    # A batch that was measured only in other campaigns, on other cards, tells nothing here.
    timed = [p for p in timed if ratios[p.batch] is not None]
    reached = {b: above(r, rule.plateau_share, rule.unproved) for b, r in ratios.items()}
    wide = plateau.batch * (1 - rule.plateau_span)
    if not any(reached[p.batch] and p.batch <= wide for p in timed):
        return None
    return _from_above(timed, lambda p: reached[p.batch])


def _ramp(points: Sequence[Point], known: Bracket | None, rule: ThresholdsRule) -> Bracket | None:
    """Find where the penalty begins, walking down from the threshold if there is one."""
    until = known.first if known else None
    within = [p for p in points if until is None or p.batch <= until]
    return _from_above(within, lambda p: above(_penalty(p, rule), rule.ramp_above, rule.unproved))


def _from_above(points: Sequence[Point], begun: _Sure) -> Bracket | None:
    """Return between which batches something begins that lasts to the largest of them."""
    first: int | None = None
    whole, known = True, False
    for point in reversed(points):
        state = begun(point)
        known = known or state is not None
        if state is False:
            return Bracket(point.batch, first)
        whole = whole and state is True
        if whole:
            first = point.batch
    return Bracket(None, first) if known else None


def _penalty(point: Point, rule: ThresholdsRule) -> Ratio | None:
    return ratio_between(point.uniform_us, point.skewed_us, rule.interval_alpha)


def _height(points: Sequence[Point], known: Bracket | None, rule: ThresholdsRule) -> Height | None:
    """Compare skewed with uniform at the first batch of the bracket."""
    for point in points:
        if known is not None and point.batch == known.first:
            ratio = _penalty(point, rule)
            if ratio is None:
                return None
            shared = [c for c in point.uniform_us if c in point.skewed_us]
            sides = ([t for c in shared for t in s[c]] for s in (point.uniform_us, point.skewed_us))
            uniform, skewed = sides
            fewer = min(len(uniform), len(skewed))
            return Height(point.batch, median(uniform), median(skewed), ratio, fewer)
    return None
