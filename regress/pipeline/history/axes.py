"""Lines of growing decode batches in rounds as columns: which there are, and a release's."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

import numpy as np

from regress.errors import UsageError
from regress.model.line import UNIFORM, Axis, Line, Point, TimesUs
from regress.pipeline.thresholds.lines import axis_of, parsed, splits_of
from regress.store.columns import ABSENT, Columns
from workloads.backend import backend
from workloads.record import Case, Facts
from workloads.workload import Phase

__all__ = ["Axes", "Rounds", "axes_of", "line_of", "rounds_of"]

_FEWEST: Final = 2
"""Batch sizes that make a line."""
_USUAL: Final = ("skew40", 262_144)
"""Distribution and tokens of the axis that a shape gets of which only uniform batches ran."""


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes of some cases, with the columns that hold them.

    Attributes
    ----------
    skewed
        By axis and batch size; empty for an axis of which no round holds anything.
    uniform
        Of the same axis and batch size, where there is one.
    related
        Every column with the axis' shape and backend.
    """

    skewed: Mapping[Axis, Mapping[int, int]]
    uniform: Mapping[Axis, Mapping[int, int]]
    related: Mapping[Axis, Sequence[int]]

    @property
    def backends(self) -> frozenset[str]:
        """Every backend that has an axis."""
        return frozenset(axis.backend for axis in self.skewed)


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of one release.

    Attributes
    ----------
    held
        For each column whether any of them holds that case.
    """

    columns: Columns
    rows: Sequence[int]
    held: Sequence[bool]

    def planned(self, backends: Collection[str]) -> Iterator[tuple[Case, Facts]]:
        """Yield the distinct plan facts of every case of some backends that can be read."""
        for column, case in enumerate(self.columns.cases):
            if self.held[column] and case.backend in backends and _readable(case):
                yield from ((case, facts) for facts in self.facts(column))

    def facts(self, column: int) -> Iterator[Facts]:
        """Yield the distinct plan facts that they told of a case."""
        codes = self.columns.ran[self.rows, column].tolist() if self.held[column] else ()
        for code in {*codes} - {ABSENT}:
            facts = self.columns.told[code].facts
            if facts is not None:
                yield facts

    def times(self, column: int) -> TimesUs:
        """Return the times of a case by campaign."""
        found: dict[str, list[float]] = defaultdict(list)
        if self.held[column]:
            times = self.columns.time_us[self.rows, column].tolist()
            for row, us in zip(self.rows, times, strict=True):
                if not isnan(us):
                    found[self.columns.heads[row].campaign].append(us)
        return {campaign: tuple(times) for campaign, times in found.items()}

    def timed(self, columns: Sequence[int]) -> bool:
        """Whether any of some cases has a time."""
        return bool(np.isfinite(self.columns.time_us[self.rows][:, columns]).any())


def rounds_of(columns: Columns, tag: str) -> Rounds:
    """Return the rounds of a release that has some."""
    rows = [n for n, head in enumerate(columns.heads) if head.tag == tag]
    held = (columns.status[rows] != ABSENT).any(axis=0)
    return Rounds(columns, rows, held.tolist())


def axes_of(columns: Columns, wanted: Collection[Case]) -> Axes:
    """Return the axes that wanted cases lie on.

    A shape and backend of which no skewed batch was measured gets the usual axis: of that only a
    model can tell anything.
    """
    at = {case: n for n, case in enumerate(columns.cases) if case in wanted}
    skewed: dict[Axis, dict[int, int]] = defaultdict(dict)
    related: dict[tuple[str, str], list[int]] = defaultdict(list)
    usual: dict[tuple[str, str], Axis] = {}
    for case, n in at.items():
        axis, lies_on_it = _axis(case)
        if axis is not None:
            key = axis.shape, axis.backend
            related[key].append(n)
            if lies_on_it:
                skewed[axis][parsed(case.workload).kv.batch] = n
            usual.setdefault(key, axis)
    known = {(axis.shape, axis.backend) for axis in skewed}
    every: dict[Axis, dict[int, int]] = {
        **{axis: {} for key, axis in usual.items() if key not in known},
        **skewed,
    }
    uniform = {
        axis: {b: at[beside] for b in batches if (beside := axis.case(b, UNIFORM)) in at}
        for axis, batches in every.items()
    }
    return Axes(every, uniform, {axis: related[axis.shape, axis.backend] for axis in every})


def _axis(case: Case) -> tuple[Axis | None, bool]:
    """Return the axis of a decode case, and whether that holds the case itself."""
    try:
        workload = parsed(case.workload)
        axis = axis_of(case, workload)
        mode = backend(case.backend).mode
    except (UsageError, ValueError):  # Of an older catalog: nothing is known of it.
        return None, False
    if axis is not None or workload.phase is not Phase.DECODE:
        return axis, axis is not None
    shape = case.workload.partition(f"-b{workload.kv.batch}-")[0]
    distribution, tokens = _USUAL
    return Axis(shape, tokens, case.backend, mode, distribution), False


def _readable(case: Case) -> bool:
    try:
        parsed(case.workload)
    except UsageError:  # Of an older catalog: nothing is known of it.
        return False
    return True


def line_of(axis: Axis, axes: Axes, rounds: Rounds) -> Line | None:
    """Return what a release's rounds tell of an axis; None of fewer than two batch sizes."""
    points, mixed = [], []
    for batch, column in sorted(axes.skewed[axis].items()):
        facts, times = [*rounds.facts(column)], rounds.times(column)
        if not facts and not times:
            continue
        states = {state for f in facts if (state := splits_of(f)) is not None}
        if len(states) > 1:
            mixed.append(batch)
        splits = next(iter(states)) if len(states) == 1 else None
        beside = axes.uniform[axis].get(batch)
        points.append(Point(batch, splits, {} if beside is None else rounds.times(beside), times))
    if len(points) < _FEWEST:
        return None
    ids = tuple(rounds.columns.heads[row].id for row in rounds.rows)
    return Line(axis, tuple(points), ids, tuple(mixed))
