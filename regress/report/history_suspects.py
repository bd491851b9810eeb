"""Cells that look slower, with too few rounds to prove it: where to measure next."""

import shlex
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import log

from regress.counted import counted, ranged
from regress.model.finding import Metric
from regress.model.history import Extreme, History
from regress.model.history_series import Point, SeriesHistory
from regress.model.reason import ReasonCode
from workloads.catalog import TIERS, cases

__all__ = ["Suspects", "render_suspects", "suspects_of"]

_UNPROVEN = {ReasonCode.TOO_FEW_ROUNDS, ReasonCode.WIDE_INTERVAL, ReasonCode.NOT_CONFIRMED}


@dataclass(frozen=True, slots=True)
class Suspects:
    """Cells that look slower in one release than in the one before.

    Attributes
    ----------
    changes
        At least one, the largest first.
    """

    base: str
    head: str
    changes: tuple[Extreme, ...]


def suspects_of(report: History) -> tuple[Suspects, ...]:
    """Return what is UNDECIDED although its whole interval lies beyond the margin, newest first.

    It is a hint and no finding: an interval has the error rate of one comparison, and there are
    hundreds of them.
    """
    groups: dict[tuple[str, str], list[Extreme]] = defaultdict(list)
    for one in report.series:
        if one.series.metric is Metric.KERNEL_TIME:
            for before, point in _looking_slower(one):
                if point.ratio is not None:
                    change = Extreme(one.series.case, point.ratio)
                    groups[before.stack, point.stack].append(change)
    order = [release.stack for release in report.releases]
    start = -1 if report.since is None else order.index(report.since)
    return tuple(
        Suspects(*pair, tuple(sorted(found, key=lambda e: -log(e.ratio.estimate))))
        for pair, found in sorted(groups.items(), key=lambda item: -order.index(item[0][1]))
        if order.index(pair[1]) > start
    )


def _looking_slower(one: SeriesHistory) -> Iterator[tuple[Point, Point]]:
    timed = [point for point in one.points if point.time_us is not None]
    for before, point in pairwise(timed):
        low = point.ratio.low if point.ratio else None
        unproven = point.code in _UNPROVEN and not point.bridged and not point.control
        if unproven and low is not None and low > 1 + one.margin:
            yield before, point


def render_suspects(report: History, found: Suspects) -> tuple[str, ...]:
    """Return where, how many cells and by how much, then the largest, then what decides it."""
    ratios = sorted(change.ratio.estimate for change in found.changes)
    largest = found.changes[0]
    extent = f"{counted(len(ratios), 'case')} at {ranged(ratios[0], ratios[-1])} the time"
    return (
        f"{found.base} -> {found.head}: {extent}",
        f"largest: {largest.ratio.estimate:.3f}x {largest.case}",
        f"to decide: {_command(report, found)}",
    )


def _command(report: History, found: Suspects) -> str:
    """Return what measures the two until these cells are decided: the smallest tier with them."""
    held = {change.case for change in found.changes}
    tiers = (tier for tier in TIERS if held <= {entry.case for entry in cases(tier)})
    words = ["python -m regress ab", found.base, found.head, "--tier", next(tiers, TIERS[-1])]
    words += [f"--family {shlex.quote(family)}" for family in report.families]
    words += [f"--cells {shlex.quote(report.pattern)}"] if report.pattern else []
    return " ".join(words)
