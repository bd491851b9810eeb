"""Sorting what rounds hold into lines of which only the batch size differs."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from regress.errors import UsageError
from regress.model.line import UNIFORM, Axis, Line, Point, TimesUs
from regress.pipeline.ab.runs import looked_again
from workloads.backend import backend
from workloads.record import Case, CaseRecord, Facts, Round
from workloads.workload import Phase, Workload, parse

__all__ = [
    "Found",
    "axis_of",
    "lines_of",
    "parsed",
    "sort_rounds",
    "splits_of",
    "times_of",
]

_SKEWED: Final = re.compile(r"(skew|two)\d+")
"""Distributions whose longest request is the same at every batch size."""
_FEWEST: Final = 2
"""Batch sizes that make a line."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the rounds of one stack say of one case.

    Attributes
    ----------
    records
        By id of the round and its campaign.
    """

    records: tuple[tuple[str, str, CaseRecord], ...]

    @property
    def told(self) -> bool:
        """Whether there is a time or a fact."""
        return any(r.time_us is not None or r.facts is not None for _, _, r in self.records)


def sort_rounds(rounds: Iterable[Round]) -> dict[Case, Found]:
    """Collect the records of each case; rounds that `ab` chose by what it saw are left aside."""
    records: dict[Case, list[tuple[str, str, CaseRecord]]] = defaultdict(list)
    for r in rounds:
        if looked_again(r):
            continue
        for record in r.cases:
            records[record.case].append((r.id, r.campaign, record))
    return {case: Found(tuple(found)) for case, found in records.items()}


@cache
def parsed(slug: str) -> Workload:
    """Return the workload of a slug in a round.

    Raises
    ------
    UsageError
        If it is none.
    """
    try:
        return parse(slug)
    except ValueError as error:
        raise UsageError(str(error)) from error


def lines_of(found: Mapping[Case, Found]) -> dict[Axis, Line]:
    """Return every line with a skewed distribution and at least two batch sizes that tell."""
    batches: dict[Axis, list[int]] = defaultdict(list)
    for case, record in found.items():
        workload = parsed(case.workload)
        axis = axis_of(case, workload) if record.told else None
        if axis is not None:
            batches[axis].append(workload.kv.batch)
    return {
        axis: _line(axis, sorted(every), found)
        for axis, every in sorted(batches.items())
        if len(every) >= _FEWEST
    }


def axis_of(case: Case, workload: Workload) -> Axis | None:
    """Return the axis that a case lies on; None if it is no skewed decode.

    Raises
    ------
    UsageError
        If there is no such backend.
    """
    if workload.phase is not Phase.DECODE or not _SKEWED.fullmatch(workload.kv.distribution):
        return None
    try:
        mode = backend(case.backend).mode
    except ValueError as error:
        raise UsageError(str(error)) from error
    shape = case.workload.partition(f"-b{workload.kv.batch}-")[0]
    return Axis(shape, workload.kv.total, case.backend, mode, workload.kv.distribution)


def _line(axis: Axis, batches: Sequence[int], found: Mapping[Case, Found]) -> Line:
    points, ids, mixed = [], dict[str, None](), []
    nothing = Found(())
    for batch in batches:
        skewed = found[axis.case(batch)]
        uniform = found.get(axis.case(batch, UNIFORM), nothing)
        ids |= dict.fromkeys(round_id for round_id, _, _ in (*uniform.records, *skewed.records))
        states = set(_states(skewed))
        if len(states) > 1:
            mixed.append(batch)
        splits = next(iter(states)) if len(states) == 1 else None
        points.append(Point(batch, splits, times_of(uniform), times_of(skewed)))
    return Line(axis, tuple(points), tuple(ids), tuple(mixed))


def _states(found: Found) -> Iterator[bool]:
    for _, _, record in found.records:
        splits = splits_of(record.facts) if record.facts else None
        if splits is not None:
            yield splits


def splits_of(facts: Facts) -> bool | None:
    """Return whether the plan splits the longest request, if the facts tell."""
    if facts.max_splits is not None:
        return facts.max_splits > 1
    return facts.splits_kv


def times_of(found: Found) -> TimesUs:
    """Return the times of a case by campaign; a round is one number."""
    times: dict[str, list[float]] = defaultdict(list)
    for _, campaign, record in found.records:
        if record.time_us is not None:
            times[campaign].append(record.time_us)
    return {campaign: tuple(values) for campaign, values in times.items()}
