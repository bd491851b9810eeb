"""Every release of a series against the one before: ratio, verdict and why."""

from dataclasses import dataclass
from math import exp, isfinite, log1p
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray

from regress.config import Config
from regress.detect.decide import decide, ratio_of
from regress.detect.history.steps import Found, Nature, PlacedStep, find_changes
from regress.model.cell import Pairs
from regress.model.finding import Metric, Ratio
from regress.model.history_series import Point
from regress.model.reason import REASONS, ReasonCode
from regress.pipeline.history.lines import Lines, Ranges, rule_of
from regress.stats.bridge import bridged_p, bridged_shift
from regress.stats.exact import Strata
from regress.stats.shift import shift

__all__ = ["Judged", "compare", "judge_lines", "previous", "ratio_between"]

_CHANGES: Final = {ReasonCode.SLOWER, ReasonCode.FASTER}


@dataclass(frozen=True, slots=True)
class Judged:
    """The series of one metric with what is shown of them.

    Attributes
    ----------
    points
        By series and release. Coverage is not looked at here.
    bridged
        Series and points that are compared with the release before through the reference.
    """

    lines: Lines
    found: Found
    points: tuple[tuple[Point, ...], ...]
    bridged: frozenset[tuple[int, int]]

    def of(self, series: int) -> list[PlacedStep]:
        """Return the steps of a series."""
        return [step for step in self.found.steps if step.series == series]


def judge_lines(lines: Lines, ranges: Ranges, config: Config) -> Judged:
    """Judge all series of one metric together."""
    apart = _apart(lines)
    bridged = _bridged_steps(lines, apart, config)
    found = find_changes(lines.line, config.history, bridged)
    known = {(step.series, step.point): step for step in found.steps}
    identical = _identical(lines, ranges)
    points = tuple(
        tuple(
            _point(lines, (series, point), known.get((series, point)), config, control=bool(same))
            for point, same in enumerate(row)
        )
        for series, row in enumerate(identical)
    )
    return Judged(lines, found, points, frozenset(apart))


def previous(lines: Lines, series: int, point: int) -> int | None:
    """Return the release before that has a time."""
    before = np.flatnonzero(np.isfinite(lines.line.panel.level[series, :point]))
    return int(before[-1]) if before.size else None


def ratio_between(
    lines: Lines, series: int, spans: tuple[slice, slice], alpha: float
) -> Ratio | None:
    """Return head over base within campaigns, else through the reference; None without either."""
    panel = lines.line.panel
    strata = panel.strata_between(series, *spans)
    if strata:
        return ratio_of(shift(strata, alpha))
    sides = _through(lines, series, spans)
    return ratio_of(bridged_shift(*sides, alpha)) if sides else None


def _through(lines: Lines, series: int, spans: tuple[slice, slice]) -> tuple[Strata, Strata] | None:
    """Return strata of the reference with each of two spans; None if it has none with one."""
    reference = slice(lines.reference, lines.reference + 1)
    base, head = (lines.line.panel.strata_between(series, reference, span) for span in spans)
    return (base, head) if base and head else None


def _apart(lines: Lines) -> list[tuple[int, int]]:
    """Return (series, point) of releases that share no campaign with the one before."""
    counts = lines.line.panel.counts > 0
    level = lines.line.panel.level
    found = []
    for series, row in enumerate(counts):
        measured = np.flatnonzero(np.isfinite(level[series]))
        together = (row[measured[1:]] & row[measured[:-1]]).any(axis=1)
        found += [(series, int(point)) for point in measured[1:][~together]]
    return found


def _bridged_steps(lines: Lines, apart: list[tuple[int, int]], config: Config) -> list[PlacedStep]:
    """Show steps between releases that share no campaign: a share of the error rate is for them."""
    rule, line = config.history, lines.line
    alpha = rule.family_alpha * rule.bridge_share / max(len(apart), 1)
    steps = []
    for series, point in apart:
        before = previous(lines, series, point)
        if before is None or line.nature[series, point - 1] == Nature.CLOSED:
            continue
        spans = slice(before, before + 1), slice(point, point + 1)
        sides = _through(lines, series, spans)
        beyond = log1p(lines.bridged[series].margin)
        if sides is None:
            continue
        for slower in (True, False):
            base, head = sides if slower else map(_negated, sides)
            p = bridged_p(base, head, beyond)
            if p <= alpha:
                adjusted = p * len(apart) / rule.bridge_share
                steps.append(PlacedStep(series, point, slower, adjusted, before, point))
    return steps


def _negated(strata: Strata) -> Strata:
    return [(-base, -head) for base, head in strata]


def _identical(lines: Lines, ranges: Ranges) -> NDArray[np.bool_]:
    """Say of each series and release whether it ran the very same kernel as the one before."""
    found = np.zeros(lines.line.panel.shape, dtype=np.bool_)
    if lines.metric is not Metric.KERNEL_TIME:
        return found
    for series, case in enumerate(lines.cases):
        for point in range(1, found.shape[1]):
            before = previous(lines, series, point)
            closed = lines.line.nature[series, point - 1] == Nature.CLOSED
            measured = ranges.measured[ranges.rows[case], point] > 0
            found[series, point] = before is not None and bool(measured) and bool(closed)
    return found


def _point(
    lines: Lines,
    at: tuple[int, int],
    step: PlacedStep | None,
    config: Config,
    *,
    control: bool,
) -> Point:
    series, point = at
    panel = lines.line.panel
    level, rounds = float(panel.level[series, point]), int(panel.counts[series, point].sum())
    tag = lines.tags[point]
    if not rounds:
        return Point(tag, None, None, 0)
    best = float(np.nanmin(panel.level[series]))
    time_us = exp(median(_known(panel.strata, series, point)))
    relative = float(np.exp(level - best)) if isfinite(level) else None
    before = previous(lines, series, point)
    if before is None:
        return Point(tag, time_us, relative, rounds)
    spans = slice(before, before + 1), slice(point, point + 1)
    code, ratio = compare(lines, series, spans, config)
    if step is not None:
        code = ReasonCode.SLOWER if step.slower else ReasonCode.FASTER
    elif code in _CHANGES:
        code = ReasonCode.NOISE_ALARM if control else ReasonCode.NOT_CONFIRMED
    bridged = not panel.strata_between(series, *spans)
    verdict = REASONS[code].verdict
    return Point(tag, time_us, relative, rounds, verdict, code, ratio, bridged, control)


def _known(strata: tuple[NDArray[np.float64], ...], series: int, point: int) -> list[float]:
    values = (float(value) for stratum in strata for value in stratum[series, point])
    return [value for value in values if isfinite(value)]


def compare(
    lines: Lines, series: int, spans: tuple[slice, slice], config: Config
) -> tuple[ReasonCode, Ratio | None]:
    """Judge two releases by the rule of a single comparison."""
    rule = rule_of(lines.metric, config)
    strata = lines.line.panel.strata_between(series, *spans)
    if strata:
        pairs: Pairs = tuple((_times(base), _times(head)) for base, head in strata)
        told = decide(pairs, rule, lines.limits[series], lines.noise[series])
        return told.code, told.measured.ratio
    ratio = ratio_between(lines, series, spans, rule.equivalence_alpha)
    floor = lines.bridged[series].floor
    if ratio and ratio.low and ratio.high and max(ratio.high, 1 / ratio.low) <= 1 + floor:
        return ReasonCode.EQUIVALENT, ratio
    return ReasonCode.WIDE_INTERVAL, ratio


def _times(logs: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(map(float, np.exp(logs)))
