"""Detector `inversion`: where backends swap rank as queries or batches grow."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import Final

from regress.config import BackendsRule
from regress.detect.versus import surely_above, versus
from regress.model.backends import RankSwap
from regress.model.finding import Ratio
from regress.model.race import Race
from workloads.backend import BACKENDS, Layout, Mode
from workloads.workload import Workload

__all__ = ["AXES", "Axis", "detect_rank_swaps"]

_BY_NAME = {b.name: b for b in BACKENDS}


@dataclass(frozen=True, slots=True)
class Axis:
    """Something that grows from workload to workload.

    Attributes
    ----------
    name
        Stands in reports.
    place
        Where a workload stands on the axis.
    line
        Equal for workloads that lie on one line.
    """

    name: str
    place: Callable[[Workload], int]
    line: Callable[[Workload], object]


AXES: Final = (
    # Batch and KV length vary too: no catalog crosses every query length with every batch.
    Axis(
        "query length",
        lambda w: w.q_len,
        lambda w: (w.phase, w.shape, w.causal, w.kv.distribution),
    ),
    Axis(
        "batch size at equal KV tokens",
        lambda w: w.kv.batch,
        lambda w: (w.phase, w.shape, w.causal, w.q_len, w.kv.distribution, w.kv.total),
    ),
    Axis(
        "batch size at equal KV tokens a request",
        lambda w: w.kv.batch,
        lambda w: (
            *(w.phase, w.shape, w.causal, w.q_len, w.kv.distribution),
            w.kv.total / w.kv.batch,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class _Point:
    """A workload's times within one mode and layout."""

    value: int
    slug: str
    times_us: Mapping[str, Sequence[float]]

    @property
    def best(self) -> str:
        return min(self.times_us, key=lambda name: median(self.times_us[name]))


@dataclass(frozen=True, slots=True)
class _Line:
    """Points along an axis, in order."""

    axis: str
    mode: Mode
    layout: Layout
    points: Sequence[_Point]


def detect_rank_swaps(races: Sequence[Race], rule: BackendsRule) -> tuple[RankSwap, ...]:
    """Walk along every axis and report where another backend becomes the fastest.

    Only swaps that are shown at both ends count; points where the order is unclear are passed
    over, so that the ends may be further apart than one step.
    """
    found: dict[tuple[str, str], RankSwap] = {}
    for axis, mode, layout in product(AXES, Mode, Layout):
        for line in _lines(races, axis, mode, layout):
            for first, second in _steps(line.points, rule):
                swap = _swap(line, first, second, rule.interval_alpha)
                found.setdefault((first.slug, second.slug), swap)
    return tuple(found.values())


def _lines(races: Iterable[Race], axis: Axis, mode: Mode, layout: Layout) -> Iterator[_Line]:
    lines: dict[object, list[_Point]] = {}
    for race in races:
        times = {
            name: times
            for name, times in race.times_us.items()
            if (_BY_NAME[name].mode, _BY_NAME[name].layout) == (mode, layout)
            and not _BY_NAME[name].chooses
        }
        if times:
            workload = race.workload
            point = _Point(axis.place(workload), workload.slug, times)
            lines.setdefault(axis.line(workload), []).append(point)
    for points in lines.values():
        points.sort(key=lambda point: (point.value, point.slug))
        yield _Line(axis.name, mode, layout, points)


def _steps(points: Sequence[_Point], rule: BackendsRule) -> Iterator[tuple[_Point, _Point]]:
    last = points[0]
    for point in points[1:]:
        if point.best == last.best:
            last = point
        elif _wins(point, last.best, rule):
            if point.value > last.value and _wins(last, point.best, rule):
                yield last, point
            last = point


def _wins(point: _Point, rival: str, rule: BackendsRule) -> bool:
    """Whether the fastest at a point is shown faster there than a rival."""
    if rival not in point.times_us:
        return False
    times = point.times_us[rival], point.times_us[point.best]
    if min(map(len, times)) < rule.min_rounds:
        return False
    return surely_above(versus(*times, rule.interval_alpha), rule.rank_swap)


def _swap(line: _Line, first: _Point, second: _Point, alpha: float) -> RankSwap:
    def lead(point: _Point, rival: str) -> Ratio:
        return versus(point.times_us[rival], point.times_us[point.best], alpha)

    return RankSwap(
        axis=line.axis,
        mode=line.mode,
        layout=line.layout,
        first_workload=first.slug,
        first_value=first.value,
        first_best=first.best,
        first_ratio=lead(first, second.best),
        second_workload=second.slug,
        second_value=second.value,
        second_best=second.best,
        second_ratio=lead(second, first.best),
    )
