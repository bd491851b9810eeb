"""Steps and drift in many series over one line of releases, with one error rate for all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

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
        Logarithm of one plus the margin, by series.
    nature
        Of every boundary; shape (series, points - 1). Must not depend on times.
    """

    panel: Panel
    beyond: Floats
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
class Found:
    """What is shown, and how many hypotheses one direction was adjusted for."""

    steps: tuple[PlacedStep, ...]
    drifts: tuple[ShownDrift, ...]
    hypotheses: int


def find_changes(line: Line, rule: HistoryRule, bridged: Sequence[PlacedStep] = ()) -> Found:
    """Find all steps, then drift where no step is; `bridged` are steps that were shown before.

    Of histories in which no release is slower than an earlier one by more than its margin, at
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
    steps: list[PlacedStep] = []
    hypotheses = 0
    for nature, alpha in shares.items():
        eligible = [(line.nature == nature)[:, window.head_start - 1] for window in windows]
        slower, faster, number = reject(line.panel, Family(windows, eligible, line.beyond, alpha))
        whole = rule.family_alpha / alpha
        steps += _placed(line, windows, slower, whole, slower=True)
        steps += _placed(line, windows, faster, whole, slower=False)
        hypotheses += number
    merged = tuple(_once([*bridged, *steps]))
    drifts, number = _drifts(line, merged, _width(line, rule), rule)
    return Found(merged, drifts, hypotheses + number)


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


def _placed(
    line: Line, windows: list[Pairing], rejected: Rejected, whole: float, *, slower: bool
) -> Iterator[PlacedStep]:
    """Put steps where a release itself is estimated beyond the margin over the one before.

    That is the boundary in the middle of a window that shows a change, else the largest such
    boundary inside of it. A window without any shows no step: that is drift, if it is anything.
    `whole` makes a p-value that was adjusted for a part of the error rate one for all of it.
    """
    rise = jumps(line.panel.level if slower else -line.panel.level)
    high = (rise > line.beyond[:, None]) & (line.nature != Nature.CLOSED)
    for n in range(rejected.series.size):
        series, window = int(rejected.series[n]), windows[int(rejected.pairing[n])]
        edge = int(window.head_start[rejected.pair[n]])
        first, last = edge - window.base_width, edge + window.head_width - 1
        inside = [k for k in range(first, last) if high[series, k]]
        if inside:
            middle = edge - 1
            best = middle if middle in inside else max(inside, key=lambda k: rise[series, k])
            p = float(rejected.p_adjusted[n]) * whole
            yield PlacedStep(series, best + 1, slower, p, first, last)


def _once(steps: list[PlacedStep]) -> Iterator[PlacedStep]:
    """Keep the smallest window of each place, of equal ones the most certain."""
    kept: dict[tuple[int, int], PlacedStep] = {}
    for step in steps:
        key = step.series, step.point
        other = kept.setdefault(key, step)
        if (step.last - step.first, step.p_adjusted) < (other.last - other.first, other.p_adjusted):
            kept[key] = step
    yield from sorted(kept.values(), key=lambda s: (s.series, s.point))


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
    rejected, _, number = reject(line.panel, Family([pairing], [free], line.beyond, alpha))
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
