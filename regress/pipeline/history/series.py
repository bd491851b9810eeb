"""Series and releases of the report, from judged points, changes and cases that were lost."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log1p

import numpy as np
from msgspec.structs import replace

from regress.config import Config
from regress.model.finding import Ratio, Series
from regress.model.history import Extreme, Release
from regress.model.history_series import BestSoFar, Point, SeriesHistory
from regress.model.reason import REASONS, ReasonCode
from regress.model.verdict import Verdict, join
from regress.pipeline.history.chain import Chain
from regress.pipeline.history.coverage import Transition
from regress.pipeline.history.findings import Told
from regress.pipeline.history.judged import Judged, ratio_between
from regress.pipeline.history.lines import Ranges, rule_of
from regress.stats.segments import segment
from workloads.record import Case

__all__ = ["releases_of", "series_of", "standing", "with_coverage"]


def series_of(
    judged: Judged, ranges: Ranges, changes: Sequence[Told], config: Config
) -> Iterator[SeriesHistory]:
    """Return the series of one metric."""
    lines, worse = judged.lines, standing(changes)
    for n, case in enumerate(lines.cases):
        limits = lines.limits[n]
        yield SeriesHistory(
            series=Series(case, lines.metric),
            family=ranges.cases[case],
            floor=limits.floor,
            margin=limits.margin,
            noise=lines.noise[n],
            points=judged.points[n],
            best=_best(judged, n, worse=case in worse, config=config),
            change_points=_change_points(judged, n, config),
        )


def standing(changes: Iterable[Told]) -> set[Case]:
    """Return the cases with a regression that no later release took back."""
    return {
        told.change.series.case
        for told in changes
        if told.verdict is Verdict.REGRESSION and told.end is None
    }


def _best(judged: Judged, series: int, *, worse: bool, config: Config) -> BestSoFar | None:
    lines = judged.lines
    level = lines.line.panel.level[series]
    measured = np.flatnonzero(np.isfinite(level))
    if not measured.size:
        return None
    best, newest = int(np.nanargmin(level)), int(measured[-1])
    tags, rule = lines.tags, rule_of(lines.metric, config)
    if best == newest:
        return BestSoFar(tags[best], tags[newest], None, Verdict.SAME)
    spans = slice(best, best + 1), slice(newest, newest + 1)
    ratio = ratio_between(lines, series, spans, rule.equivalence_alpha)
    limits = lines.limits[series]
    beyond = float(level[newest] - level[best]) > log1p(limits.margin)
    verdict = Verdict.REGRESSION if worse and beyond else _equal(ratio, limits.floor)
    return BestSoFar(tags[best], tags[newest], ratio, verdict)


def _equal(ratio: Ratio | None, floor: float) -> Verdict:
    shown = ratio is not None and ratio.high is not None and ratio.high <= 1 + floor
    return Verdict.SAME if shown else Verdict.UNDECIDED


def _change_points(judged: Judged, series: int, config: Config) -> tuple[str, ...] | None:
    """Segment a long series: information, the steps are shown by exact tests alone."""
    level = judged.lines.line.panel.level[series]
    measured = np.flatnonzero(np.isfinite(level))
    if measured.size < config.history.change_points_from:
        return None
    found = segment(level[measured], config.history.penalty)
    return None if found is None else tuple(judged.lines.tags[measured[n]] for n in found)


def releases_of(
    chain: Chain, kernel: Judged, transitions: Sequence[Transition], changes: Sequence[Told]
) -> tuple[Release, ...]:
    """Return every release against the one before: times, and cases that were lost."""
    lost: dict[int, dict[Case, ReasonCode]] = defaultdict(dict)
    for found in transitions:
        lost[found.point][found.case] = found.code
    return tuple(
        _release(chain, kernel, point, lost[point], changes) for point in range(len(chain.tags))
    )


def _release(
    chain: Chain,
    kernel: Judged,
    point: int,
    lost: Mapping[Case, ReasonCode],
    changes: Sequence[Told],
) -> Release:
    tag, cases = chain.tags[point], kernel.lines.cases
    heads = [head for head in chain.columns.heads if head.tag == tag]
    verdicts = {
        case: told[point].verdict for case, told in zip(cases, kernel.points, strict=True)
    } | {case: REASONS[code].verdict for case, code in lost.items()}
    counts = Counter(verdict for verdict in verdicts.values() if verdict is not None)
    shown = [(case, told[point]) for case, told in zip(cases, kernel.points, strict=True)]
    return Release(
        stack=tag,
        time=chain.released[point] or None,
        before=chain.tags[point - 1] if point else None,
        rounds=len(heads),
        campaigns=len({head.campaign for head in heads}),
        cards=tuple(sorted({head.gpu_uuid for head in heads if head.gpu_uuid})),
        verdict=join(counts) if counts else None,
        verdicts=dict(sorted(counts.items())),
        slowest=_extreme(shown, Verdict.REGRESSION),
        fastest=_extreme(shown, Verdict.IMPROVEMENT),
        slower_than_best=_slower(kernel, point, changes),
    )


def _extreme(shown: Iterable[tuple[Case, Point]], verdict: Verdict) -> Extreme | None:
    found = [
        Extreme(case, point.ratio)
        for case, point in shown
        if point.verdict is verdict and point.ratio is not None
    ]
    return max(found, key=lambda e: abs(np.log(e.ratio.estimate)), default=None)


def _slower(kernel: Judged, point: int, changes: Sequence[Told]) -> int:
    """Count the cells of which a regression stood when this release was the newest."""
    tags = kernel.lines.tags

    def stands(told: Told) -> bool:
        began, end = tags.index(told.pair[1]), told.end
        return began <= point and (end is None or point < tags.index(end))

    worse = {t.change.series.case for t in changes if t.verdict is Verdict.REGRESSION and stands(t)}
    measured = {
        case
        for case, told in zip(kernel.lines.cases, kernel.points, strict=True)
        if told[point].rounds
    }
    return len(worse & measured)


def with_coverage(
    series: Iterable[SeriesHistory], transitions: Iterable[Transition], tags: Sequence[str]
) -> Iterator[SeriesHistory]:
    """Say of a series' points which were lost or appeared: that goes before any time."""
    said = {(found.case, tags[found.point]): found.code for found in transitions}
    for one in series:
        case = one.series.case
        points = tuple(
            replace(p, verdict=REASONS[code].verdict, code=code)
            if (code := said.get((case, p.stack))) is not None
            else p
            for p in one.points
        )
        yield replace(one, points=points)
