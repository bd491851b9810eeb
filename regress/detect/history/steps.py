"""Steps and drift in many series over one line of releases, with one error rate for all."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from regress.config import HistoryRule
from regress.stats.exact import Floats
from regress.stats.families import Family, Rejected, reject
from regress.stats.panel import Pairing, Panel, rises, smallest_p

__all__ = [
    "Found",
    "Line",
    "Nature",
    "PlacedStep",
    "ShownDrift",
    "attainable",
    "find_changes",
    "jumps",
]


_NEAR: Final = 0.5
"""Share of `size` below which a window's halves are too near to show anything."""
_QUARTILE: Final = 0.6745
"""Median of the absolute value of a standard normal number."""
_MOST_AVERAGED: Final = 16
_LEAST: Final = 1e-12


class Nature(IntEnum):
    """What is known, without any time, of the boundary between a release and the one before."""

    CLOSED = 0
    """Nothing can have changed: the kernel is identical, or there is no release to compare."""
    OPEN = 1
    """It is not known what ran, or only the device code differs."""
    EXPLAINED = 2
    """Kernels, plan facts or the resolved backend differ."""


@dataclass(frozen=True, slots=True)
class Line:
    """Series over releases.

    Attributes
    ----------
    panel
        Logarithms of times.
    beyond
        What tests reject, by series: "slower by at most this", as a logarithm.
    size
        How large a change must be estimated to be told, likewise; at least `beyond`.
    nature
        Of every boundary; shape (series, points - 1). Must not depend on times.
    """

    panel: Panel
    beyond: Floats
    size: Floats
    nature: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class PlacedStep:
    """A shown step.

    Attributes
    ----------
    series, point
        Which series, and the first point after the step.
    slower
        Which way.
    p_adjusted
        For the whole history: at most its `family_alpha`.
    first, last
        Points between which a change lies for certain.
    """

    series: int
    point: int
    slower: bool
    p_adjusted: float
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ShownDrift:
    """Two spans of points of which the later is slower, with no step between them.

    Attributes
    ----------
    early, late
        First and last point of each span.
    """

    series: int
    early: tuple[int, int]
    late: tuple[int, int]
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class _Shown:
    """A window that shows a change, and how much higher its later half is."""

    series: int
    first: int
    last: int
    slower: bool
    rise: float
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class Found:
    """What is shown, and how many hypotheses one direction was adjusted for."""

    steps: tuple[PlacedStep, ...]
    drifts: tuple[ShownDrift, ...]
    hypotheses: int


def find_changes(line: Line, rule: HistoryRule, bridged: Sequence[PlacedStep] = ()) -> Found:
    """Find all steps, then drift where no step is; `bridged` are steps that were shown before.

    Of histories in which no release is slower than an earlier one by more than `line.beyond`, at
    most `rule.family_alpha` show any slower step or drift; likewise for faster. The rate is
    divided beforehand: between drift, steps at which something is known to differ, and the rest.
    """
    if not line.panel.shape[0]:
        return Found((), (), 0)
    step_alpha = rule.family_alpha * (1 - rule.drift_share - rule.bridge_share)
    shares = {
        Nature.EXPLAINED: step_alpha * rule.explained_share,
        Nature.OPEN: step_alpha * (1 - rule.explained_share),
    }
    windows = _windows(line.panel.shape[1], rule)
    shown: list[_Shown] = []
    hypotheses = 0
    for nature, alpha in shares.items():
        eligible = [(line.nature == nature)[:, window.head_start - 1] for window in windows]
        family = Family(windows, eligible, line.beyond, _NEAR * line.size, alpha)
        slower, faster, number = reject(line.panel, family)
        whole = rule.family_alpha / alpha
        shown += _shown(line, windows, slower, whole, slower=True)
        shown += _shown(line, windows, faster, whole, slower=False)
        hypotheses += number
    steps = tuple(_placed(line, shown, bridged))
    drifts, number = _drifts(line, steps, _width(line, rule), rule)
    return Found(steps, drifts, hypotheses + number)


def attainable(line: Line, rule: HistoryRule) -> Floats:
    """Return the smallest p-value that some window could give at every open boundary, as a row.

    It depends on numbers of rounds only.
    """
    tables, kinds = line.panel.alike
    best = np.ones((tables.shape[0], line.panel.shape[1] - 1))
    for window in _windows(line.panel.shape[1], rule):
        at = window.head_start - 1
        best[:, at] = np.minimum(best[:, at], smallest_p(line.panel, window))
    found: Floats = best[kinds][line.nature != Nature.CLOSED]
    return found


def jumps(level: Floats) -> Floats:
    """Return how far each point is above the one before that has a level.

    Shape (series, points - 1); NaN where the point has no level or none is before it.
    """
    points = level.shape[1]
    at = np.where(np.isfinite(level), np.arange(points)[None, :], -1)
    latest = np.maximum.accumulate(at, axis=1)[:, :-1]
    before = np.take_along_axis(level, np.maximum(latest, 0), axis=1)
    found: Floats = level[:, 1:] - np.where(latest >= 0, before, np.nan)
    return found


def _windows(points: int, rule: HistoryRule) -> list[Pairing]:
    sides = [(w, w) for w in rule.widths] + [
        side for w in rule.widths if w > 1 for side in ((w, 1), (1, w))
    ]
    return [Pairing.around(points, b, a) for b, a in sides if a + b <= points]


def _shown(
    line: Line, windows: list[Pairing], rejected: Rejected, whole: float, *, slower: bool
) -> Iterator[_Shown]:
    """Return the windows that show a change.

    `whole` makes a p-value that was adjusted for a part of the error rate one for all of it.
    """
    sign = 1 if slower else -1
    for n, window in enumerate(windows):
        chosen = np.flatnonzero(rejected.pairing == n)
        if chosen.size:
            series, pairs = rejected.series[chosen], rejected.pair[chosen]
            rise = sign * rises(line.panel, window)[series, pairs]
            first = window.base_start[pairs]
            last = window.head_start[pairs] + window.head_width - 1
            p = rejected.p_adjusted[chosen] * whole
            columns = (series, first, last, rise, p)
            for one, start, end, height, value in zip(*(c.tolist() for c in columns), strict=True):
                yield _Shown(one, start, end, slower, height, value)


def _placed(
    line: Line, shown: Iterable[_Shown], bridged: Sequence[PlacedStep]
) -> Iterator[PlacedStep]:
    """Put one step into every window that holds none yet, the narrowest windows first.

    The place is the boundary within the window that is highest, and it must be larger than `size`
    by itself. A window without such a boundary shows no step: that is drift, if it is anything. A
    window that holds a step the same way says no more than that, as the step alone may have made
    it show; one the other way cannot have.
    """
    heights = {True: _heights(line, line.panel.level), False: _heights(line, -line.panel.level)}
    found: dict[int, list[PlacedStep]] = defaultdict(list)
    for step in bridged:
        found[step.series].append(step)
    for window in sorted(shown, key=lambda s: (s.last - s.first, -s.rise)):
        others = found[window.series]
        alike = (step.point for step in others if step.slower is window.slower)
        if any(window.first < point <= window.last for point in alike):
            continue
        inside = heights[window.slower][window.series, window.first : window.last]
        if inside.max() > line.size[window.series]:
            point = window.first + int(inside.argmax()) + 1
            told = window.p_adjusted, window.first, window.last
            others.append(PlacedStep(window.series, point, window.slower, *told))
    for series in sorted(found):
        yield from sorted(found[series], key=lambda step: step.point)


def _heights(line: Line, level: Floats) -> Floats:
    """Return how much higher the points after each boundary are than those before it.

    Shape (series, points - 1); -inf where nothing can have changed. Next to a boundary so many
    points are averaged that noise is a third of `size`: one, where a point has rounds enough.
    """
    with np.errstate(invalid="ignore"):
        steps = np.abs(jumps(level))
    noise = np.nan_to_num(_median(steps)) / _QUARTILE
    needed = np.ceil((3 * noise / np.maximum(line.size, _LEAST)) ** 2)
    widths = needed.clip(1, _MOST_AVERAGED).astype(int)
    found = jumps(level)
    for width in np.unique(widths[widths > 1]):
        rows = np.flatnonzero(widths == width)
        found[rows] = _averaged(level[rows], int(width))
    found[(line.nature == Nature.CLOSED) | ~np.isfinite(found)] = -np.inf
    return found


def _median(values: Floats) -> Floats:
    """Return the median of each row without NaN; NaN of a row of nothing else."""
    ordered = np.sort(values, axis=1)
    middle = np.maximum(np.isfinite(values).sum(axis=1) - 1, 0) // 2
    found: Floats = np.take_along_axis(ordered, middle[:, None], axis=1)[:, 0]
    return found


def _averaged(level: Floats, width: int) -> Floats:
    """Return the mean of `width` points after each boundary less that of those before it."""
    known = np.isfinite(level)
    sums = [
        np.pad(np.cumsum(values, axis=1), ((0, 0), (1, 0)))
        for values in (np.where(known, level, 0.0), known.astype(np.float64))
    ]
    edges = np.arange(1, level.shape[1])
    first, last = np.maximum(edges - width, 0), np.minimum(edges + width, level.shape[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        before, after = (
            (sums[0][:, end] - sums[0][:, start]) / (sums[1][:, end] - sums[1][:, start])
            for start, end in ((first, edges), (edges, last))
        )
    found: Floats = after - before
    return found


def _width(line: Line, rule: HistoryRule) -> int:
    """Return the releases of a span: more of them in a long history, as pairs of spans are many."""
    return max(rule.drift_points, -(-line.panel.shape[1] // rule.drift_spans))


def _drifts(
    line: Line, steps: tuple[PlacedStep, ...], width: int, rule: HistoryRule
) -> tuple[tuple[ShownDrift, ...], int]:
    """Compare spans of `width` releases with all later ones; of a series the worst is told."""
    starts = np.arange(0, line.panel.shape[1] - width + 1, width, dtype=np.int64)
    early, late = (starts[i] for i in np.triu_indices(starts.size, k=1))
    if not early.size:
        return (), 0
    pairing = Pairing(early, width, late, width)
    open_until = np.cumsum(np.pad(line.nature != Nature.CLOSED, ((0, 0), (1, 0))), axis=1)
    free = open_until[:, late + width - 1] - open_until[:, early] > 0
    shift = rises(line.panel, pairing)
    alpha = rule.family_alpha * rule.drift_share
    family = Family([pairing], [free], line.beyond, line.size, alpha)
    rejected, _, number = reject(line.panel, family)
    places: dict[int, list[int]] = {}
    for step in steps:
        places.setdefault(step.series, []).append(step.point)
    worst: dict[int, tuple[float, ShownDrift]] = {}
    for series, pair, p in zip(
        rejected.series, rejected.pair, map(float, rejected.p_adjusted), strict=True
    ):
        first, last = int(early[pair]), int(late[pair]) + width - 1
        if not any(first < point <= last for point in places.get(int(series), ())):
            span = (first, first + width - 1), (last - width + 1, last)
            told = float(shift[series, pair]), ShownDrift(int(series), *span, p / rule.drift_share)
            worst[int(series)] = max(worst.get(int(series), told), told, key=lambda t: t[0])
    return tuple(drift for _, drift in worst.values()), number
