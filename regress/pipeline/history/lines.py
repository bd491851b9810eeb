"""From rounds in columns to series over releases: panels, and what is known of every boundary."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log1p
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from regress.config import Config, TimeRule
from regress.detect.decide import Bounds, bounds
from regress.detect.history.steps import Line, Nature
from regress.model.finding import Metric
from regress.pipeline.history.chain import Chain
from regress.pipeline.noise import calibrated_noise
from regress.stats.exact import Floats
from regress.stats.noise import upper_sd
from regress.stats.panel import Ints, Panel
from regress.store.columns import ABSENT, STATUSES, Columns, Ran
from regress.store.sources import Sources
from workloads.backend import backend
from workloads.record import Case, Status

__all__ = ["Lines", "Ranges", "build_lines", "build_ranges", "rule_of"]


_UNRESOLVED: Final = "auto"


@dataclass(frozen=True, slots=True)
class Ranges:
    """What rounds told of each case and release; arrays of shape (cases, releases).

    Attributes
    ----------
    cases
        With the family of each.
    ran
        Index into `told` of what all measured rounds of the release ran; `ABSENT` if they differ.
    planned, measured
        How many rounds hold the case, and how many have a time.
    rows
        Where each case is in the arrays.
    """

    cases: dict[Case, str]
    ran: NDArray[np.int64]
    planned: Ints
    measured: Ints
    told: tuple[Ran, ...]
    rows: dict[Case, int]

    def ran_by(self, case: Case, point: int) -> Ran | None:
        """Return what all measured rounds of a release ran; None if they differ or do not tell."""
        number = int(self.ran[self.rows[case], point])
        return None if number == ABSENT else self.told[number]


@dataclass(frozen=True, slots=True)
class Lines:
    """The series of one metric.

    Attributes
    ----------
    tags, reference
        Releases, and which of them is the reference.
    limits
        Of each series, within a campaign.
    bridged
        Of each series, between campaigns.
    noise
        Of each series; None if unknown.
    """

    metric: Metric
    tags: tuple[str, ...]
    reference: int
    cases: tuple[Case, ...]
    line: Line
    limits: tuple[Bounds, ...]
    bridged: tuple[Bounds, ...]
    noise: tuple[float | None, ...]


def rule_of(metric: Metric, config: Config) -> TimeRule:
    """Return the rule by which a metric is judged."""
    return config.kernel_time if metric is Metric.KERNEL_TIME else config.plan_time


def build_ranges(chain: Chain, wanted: dict[Case, str]) -> Ranges:
    """Sort what rounds hold by case and release."""
    columns = chain.columns
    told_of = _resolved(columns.told)
    at = {case: n for n, case in enumerate(columns.cases)}
    cases = [at[case] for case in wanted]
    shape = len(cases), len(chain.tags)
    ran = np.full(shape, ABSENT, dtype=np.int64)
    planned, measured = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    agreed: dict[frozenset[int], int] = {}
    for n, tag in enumerate(chain.tags):
        rows = [row for row, head in enumerate(columns.heads) if head.tag == tag]
        status = columns.status[rows][:, cases]
        timed = status == STATUSES.index(Status.MEASURED)
        planned[:, n] = (status != ABSENT).sum(axis=0)
        measured[:, n] = timed.sum(axis=0)
        codes = np.where(timed, columns.ran[rows][:, cases], ABSENT)
        for case in range(len(cases)):
            told = frozenset(map(int, codes[:, case])) - {ABSENT}
            if told not in agreed:
                agreed[told] = _agreed(told, told_of)
            ran[case, n] = agreed[told]
    rows_of = {case: n for n, case in enumerate(wanted)}
    return Ranges(dict(wanted), ran, planned, measured, told_of, rows_of)


def _resolved(told: Sequence[Ran]) -> tuple[Ran, ...]:
    """Return the same with the backend by the kernels that ran, where the release does not say.

    Some releases only ever say `auto`. Another round in which the same attention kernel ran tells
    what that is, if all that tell agree.
    """
    known: dict[frozenset[str], set[str]] = defaultdict(set)
    for ran in told:
        backend = ran.facts.resolved_backend if ran.facts else None
        if backend not in {None, _UNRESOLVED} and ran.attention:
            known[ran.attention].add(str(backend))
    return tuple(_named(ran, known.get(ran.attention, set())) for ran in told)


def _named(ran: Ran, backends: Collection[str]) -> Ran:
    if ran.facts is None or ran.facts.resolved_backend != _UNRESOLVED:
        return ran
    backend = next(iter(backends)) if len(backends) == 1 else None
    return Ran(msgspec.structs.replace(ran.facts, resolved_backend=backend), ran.kernels)


def _agreed(codes: Collection[int], told: Sequence[Ran]) -> int:
    """Return what tells most, if nothing that the others tell differs from it.

    Rounds of one stack and set-up run the same code, so one that tells less runs it too.
    """
    if not codes:
        return ABSENT
    best = max(codes, key=lambda code: len(_parts(told[code])))
    parts = _parts(told[best])
    return best if all(_parts(told[code]).items() <= parts.items() for code in codes) else ABSENT


def _parts(told: Ran) -> dict[str, object]:
    facts = msgspec.structs.asdict(told.facts) if told.facts else {}
    known = {name: value for name, value in facts.items() if value is not None}
    return known | ({"kernels": told.kernels} if told.kernels else {})


def build_lines(
    metric: Metric, chain: Chain, ranges: Ranges, sources: Sources, config: Config
) -> Lines:
    """Make the series of one metric."""
    columns = chain.columns
    at = {case: n for n, case in enumerate(columns.cases)}
    values = columns.time_us if metric is Metric.KERNEL_TIME else columns.plan_us
    logs = np.log(values[:, [at[case] for case in ranges.cases]])
    panel = _panel(logs, columns, chain.tags)
    has: NDArray[np.bool_] = np.atleast_1d(np.isfinite(panel.level).any(axis=1))
    panel = Panel(tuple(stratum[has] for stratum in panel.strata))
    cases = tuple(case for case, kept in zip(ranges.cases, has, strict=True) if kept)
    noise = _noise(metric, cases, panel, chain, config)
    shortest = np.exp(np.nanmin(logs[:, has], axis=0)) if cases else np.zeros(0)
    small = [bool(us < config.noise.small_below_us) for us in shortest]
    rule = rule_of(metric, config)
    limits, bridged = (
        tuple(bounds(rule, n, small=s, block=block) for n, s in zip(noise, small, strict=True))
        for block in (False, True)
    )
    kept = sources if metric is Metric.KERNEL_TIME else None
    nature = _natures(ranges, chain.tags, kept)[has]
    size = np.array([log1p(limit.margin) for limit in limits])
    beyond = size
    if metric is Metric.KERNEL_TIME:
        pairs = zip(noise, small, strict=True)
        beyond = np.array([log1p(config.ab.margin.of(n, small=s, block=False)) for n, s in pairs])
    reference = chain.tags.index(chain.reference)
    return Lines(
        metric,
        chain.tags,
        reference,
        cases,
        Line(panel, np.minimum(beyond, size), size, nature),
        limits,
        bridged,
        noise,
    )


def _panel(logs: Floats, columns: Columns, tags: Sequence[str]) -> Panel:
    """Sort logarithms of shape (rounds, series) by campaign, release and round."""
    strata = []
    for campaign in dict.fromkeys(head.campaign for head in columns.heads):
        rows = [
            [n for n, h in enumerate(columns.heads) if (h.campaign, h.tag) == (campaign, tag)]
            for tag in tags
        ]
        stratum = np.full((logs.shape[1], len(tags), max(map(len, rows))), np.nan)
        for point, numbers in enumerate(rows):
            stratum[:, point, : len(numbers)] = logs[numbers].T
        strata.append(stratum)
    return Panel(tuple(strata))


def _noise(
    metric: Metric, cases: Sequence[Case], panel: Panel, chain: Chain, config: Config
) -> tuple[float | None, ...]:
    """Return upper bounds of the noise: the calibrated one, else that of all rounds at hand."""
    known = calibrated_noise(chain.setup)
    squares, degrees = np.zeros(len(cases)), np.zeros(len(cases), dtype=np.int64)
    for stratum in panel.strata:
        counts = np.isfinite(stratum).sum(axis=2)
        mean = np.nansum(stratum, axis=2) / np.maximum(counts, 1)
        squares += np.nansum((stratum - mean[:, :, None]) ** 2, axis=(1, 2))
        degrees += np.maximum(counts - 1, 0).sum(axis=1)
    rule = config.noise
    return tuple(
        known.get(case, {}).get(metric)
        or (
            upper_sd(float(np.sqrt(square / free)), int(free), rule.confidence)
            if free >= rule.min_degrees
            else None
        )
        for case, square, free in zip(cases, squares, degrees, strict=True)
    )


def _natures(ranges: Ranges, tags: Sequence[str], sources: Sources | None) -> NDArray[np.int8]:
    """Say of every boundary what is known of it without any time.

    A release is compared with the one before it that has a time. Without `sources` nothing is
    known, as for host code.
    """
    cases, releases = ranges.ran.shape
    found = np.full((cases, max(releases - 1, 0)), Nature.CLOSED, dtype=np.int8)
    for case, row in ranges.rows.items():
        points = [int(point) for point in np.flatnonzero(ranges.measured[row])]
        for before, point in pairwise(points):
            nature = Nature.OPEN
            if sources is not None:
                ran = ranges.ran_by(case, before), ranges.ran_by(case, point)
                same = sources.identical(_library(case), tags[before], tags[point])
                nature = _nature(*ran, same_code=same)
            found[row, point - 1] = nature
    return found


def _library(case: Case) -> str:
    try:
        return backend(case.backend).library
    except ValueError:  # Of an older catalog: nothing is known of it.
        return ""


def _nature(one: Ran | None, other: Ran | None, *, same_code: bool) -> Nature:
    if one is None or other is None:
        return Nature.CLOSED if same_code else Nature.OPEN
    if (one == other and one.known) or (same_code and _agree(one, other)):
        return Nature.CLOSED
    return Nature.OPEN if _without_code(one) == _without_code(other) else Nature.EXPLAINED


def _agree(one: Ran, other: Ran) -> bool:
    """Whether nothing that both tell differs."""
    parts, others = _parts(one), _parts(other)
    return all(others[name] == value for name, value in parts.items() if name in others)


def _without_code(told: Ran) -> Ran:
    facts = msgspec.structs.replace(told.facts, cubin=None) if told.facts else None
    return Ran(facts, told.kernels)
