"""Releases that run identical kernels: what is said of one holds for the others."""

from collections.abc import Iterator
from itertools import pairwise

from regress.model.finding import Metric
from regress.model.history import History
from regress.model.history_series import Point
from workloads import catalog

__all__ = ["twins_of"]


def twins_of(history: History | None) -> dict[str, list[str]]:
    """Return the other releases of identical kernels, by the tag of each release that has some.

    Consecutive releases are twins if every case of the smallest tier that both have ran the very
    same code in the very same way; twins of twins are twins.

    Parameters
    ----------
    history
        None if there are no two releases, so no twins either.
    """
    groups = list(_groups(history)) if history else []
    return {tag: [other for other in group if other != tag] for group in groups for tag in group}


def _groups(history: History) -> Iterator[list[str]]:
    smallest = {entry.case for entry in catalog.cases(catalog.TIERS[0])}
    rows = [
        {point.stack: point for point in one.points}
        for one in history.series
        if one.series.metric is Metric.KERNEL_TIME and one.series.case in smallest
    ]
    group: list[str] = []
    tags = [release.stack for release in history.releases]
    for before, after in pairwise(tags):
        if not _identical(rows, before, after):
            yield from [group] if group else []
            group = []
            continue
        group = [*(group or [before]), after]
    yield from [group] if group else []


def _identical(rows: list[dict[str, Point]], before: str, after: str) -> bool:
    both = [
        row[after].control
        for row in rows
        if row[before].time_us is not None and row[after].time_us is not None
    ]
    return bool(both) and all(both)
