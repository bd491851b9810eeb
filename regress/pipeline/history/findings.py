"""From shown changes of single series to findings: one for each change with one cause."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import msgspec
import numpy as np

from regress.config import Config
from regress.counted import counted, ranged
from regress.detect.history.recovery import outcome_of, stretches_of
from regress.detect.history.steps import Nature
from regress.model.finding import Metric, Ratio, Series
from regress.model.history import Extreme, HistoryFinding, Kind
from regress.model.history_series import Drift, PlanChange, Recovered, Step
from regress.model.reason import REASONS, ReasonCode
from regress.model.verdict import Verdict
from regress.pipeline.history.causes import (
    Signature,
    cause_of,
    coverage_cause,
    fact_changes,
    ran_changes,
    sign,
)
from regress.pipeline.history.coverage import Transition
from regress.pipeline.history.judged import Judged, compare, previous, ratio_between
from regress.pipeline.history.lines import Ranges, rule_of
from regress.store.sources import Sources
from workloads.record import Case

__all__ = [
    "Told",
    "group_changes",
    "group_transitions",
    "named_apart",
    "plan_changes",
    "tell_changes",
]


@dataclass(frozen=True, slots=True)
class Told:
    """One shown change of one series, with what became of it.

    Attributes
    ----------
    change
        A step or a drift.
    end
        Tag of the release that took it back; None if it stands.
    depth
        Worst ratio in between.
    releases
        How many releases had it.
    newest
        The newest release over the last one without it; None if nothing joins them.
    """

    change: Step | Drift
    signature: Signature
    end: str | None
    depth: float
    releases: int
    newest: Ratio | None

    @property
    def pair(self) -> tuple[str, str]:
        """Tags of the last release without it and the first with it."""
        if isinstance(self.change, Step):
            return self.change.last_good, self.change.first_bad
        return self.change.best, self.change.passed_at

    @property
    def verdict(self) -> Verdict:
        """REGRESSION or IMPROVEMENT."""
        return self.change.verdict if isinstance(self.change, Step) else Verdict.REGRESSION

    @property
    def recovered(self) -> Recovered | None:
        """The record of a regression that was taken back."""
        if self.end is None or self.verdict is not Verdict.REGRESSION:
            return None
        begin, change = self.pair[1], self.change
        return Recovered(change.series, change.family, begin, self.end, self.depth, self.releases)


def tell_changes(judged: Judged, ranges: Ranges, config: Config) -> Iterator[Told]:
    """Return every step, then every drift, of one metric."""
    for number in range(len(judged.found.steps)):
        yield _step(judged, ranges, number, config)
    yield from _drifts(judged, ranges, config)


def _step(judged: Judged, ranges: Ranges, number: int, config: Config) -> Told:
    lines, placed = judged.lines, judged.found.steps[number]
    alpha = rule_of(lines.metric, config).equivalence_alpha
    before = previous(lines, placed.series, placed.point)
    before = placed.first if before is None else before
    case = lines.cases[placed.series]
    sides = ranges.ran_by(case, before), ranges.ran_by(case, placed.point)
    spans = slice(before, before + 1), slice(placed.point, placed.point + 1)
    ratio = ratio_between(lines, placed.series, spans, alpha)
    step = Step(
        series=Series(case, lines.metric),
        family=ranges.cases[case],
        last_good=lines.tags[before],
        first_bad=lines.tags[placed.point],
        verdict=Verdict.REGRESSION if placed.slower else Verdict.IMPROVEMENT,
        ratio=ratio or _estimate(judged, placed.series, before, placed.point),
        p_adjusted=placed.p_adjusted,
        within=(lines.tags[placed.first], lines.tags[placed.last]),
        bridged=(placed.series, placed.point) in judged.bridged,
        evidence=ran_changes(*sides),
    )
    signature = sign(case, lines.metric, *sides)
    return _told(judged, step, signature, (placed.series, before, placed.point), config)


def _estimate(judged: Judged, series: int, before: int, point: int) -> Ratio:
    level = judged.lines.line.panel.level[series]
    return Ratio(float(np.exp(level[point] - level[before])), None, None, 0.0)


def _drifts(judged: Judged, ranges: Ranges, config: Config) -> Iterator[Told]:
    lines = judged.lines
    alpha = rule_of(lines.metric, config).equivalence_alpha
    for drift in judged.found.drifts:
        level, case = lines.line.panel.level[drift.series], lines.cases[drift.series]
        early = slice(drift.early[0], drift.early[1] + 1)
        late = slice(drift.late[0], drift.late[1] + 1)
        best = early.start + int(np.nanargmin(level[early]))
        beyond = level[best] + lines.line.size[drift.series]
        above = np.flatnonzero(np.nan_to_num(level[best:], nan=-np.inf) > beyond)
        passed = best + int(above[0]) if above.size else drift.late[0]
        sides = ranges.ran_by(case, best), ranges.ran_by(case, passed)
        told = Drift(
            series=Series(case, lines.metric),
            family=ranges.cases[case],
            best=lines.tags[best],
            passed_at=lines.tags[passed],
            until=lines.tags[drift.late[1]],
            ratio=ratio_between(lines, drift.series, (early, late), alpha)
            or _estimate(judged, drift.series, best, drift.late[1]),
            p_adjusted=drift.p_adjusted,
        )
        signature = sign(case, lines.metric, *sides)
        yield _told(judged, told, signature, (drift.series, best, passed), config)


def _told(
    judged: Judged,
    change: Step | Drift,
    signature: Signature,
    at: tuple[int, int, int],
    config: Config,
) -> Told:
    series, before, point = at
    line, tags, panel = judged.lines.line, judged.lines.tags, judged.lines.line.panel
    alike = stretches_of(
        panel.level[series],
        panel.counts[series].sum(axis=1),
        line.nature[series] != Nature.CLOSED,
        rule_of(judged.lines.metric, config).min_rounds,
    )
    newest = max(alike.newest, point)  # With few rounds since, the change itself is the newest.
    spans = alike.around(before), alike.around(newest)
    code, ratio = compare(judged.lines, series, spans, config)
    equal = newest > point and code is ReasonCode.EQUIVALENT
    place = before, point, not isinstance(change, Step) or change.verdict is Verdict.REGRESSION
    beyond = float(line.size[series])
    outcome = outcome_of(place, alike, judged.of(series), beyond, equal=equal)
    last = outcome.end if outcome.end is not None else alike.level.size
    return Told(
        change,
        signature,
        None if outcome.end is None else tags[outcome.end],
        float(np.exp(outcome.depth)),
        int(np.isfinite(alike.level[point:last]).sum()),
        ratio,
    )


def plan_changes(ranges: Ranges, tags: tuple[str, ...]) -> Iterator[PlanChange]:
    """Return the plan facts that differ from the release before that has a time."""
    for row, (case, family) in enumerate(ranges.cases.items()):
        points = [int(p) for p in np.flatnonzero(ranges.measured[row])]
        for before, after in pairwise(points):
            changes = fact_changes(ranges.ran_by(case, before), ranges.ran_by(case, after))
            if changes:
                yield PlanChange(case, family, tags[before], tags[after], changes)


def group_changes(
    changes: Iterable[Told], sources: Sources, config: Config, options: str
) -> Iterator[HistoryFinding]:
    """Return one finding for all series that changed at one place, one way and for one cause.

    Series in which the change still stands, and those in which one release or another took it back,
    are told apart.

    Parameters
    ----------
    options
        With which `check` reads the same rounds.
    """
    groups: dict[tuple[object, ...], list[Told]] = defaultdict(list)
    for told in changes:
        # Drifting cases pass their margins one after the other.
        place = told.pair if isinstance(told.change, Step) else None
        key = told.change.series.metric, place, told.verdict, told.signature, told.end
        groups[key].append(told)
    for group in groups.values():
        yield _finding(group, sources, config, options)


def _finding(group: list[Told], sources: Sources, config: Config, options: str) -> HistoryFinding:
    def size(told: Told) -> float:
        return abs(float(np.log(told.change.ratio.estimate)))

    worst = max(group, key=size)
    step, pair = worst.change, worst.pair
    metric = step.series.metric
    kind = Kind.STEP if isinstance(step, Step) else Kind.DRIFT
    cause = cause_of(worst.signature, step, sources, pair)
    ratios = sorted(told.change.ratio.estimate for told in group)
    word = {Verdict.REGRESSION: "slower"}.get(worst.verdict, "faster")
    name = (kind, metric, pair[1], word, worst.signature.sort, worst.signature.detail)
    return HistoryFinding(
        id=_slug(*name),
        kind=kind,
        metric=metric,
        last_good=pair[0],
        first_bad=pair[1],
        verdict=worst.verdict,
        standing=worst.end is None,
        gates=rule_of(metric, config).gates,
        recovered_by=worst.end,
        families=tuple(dict.fromkeys(told.change.family for told in group)),
        cases=tuple(told.change.series.case for told in group),
        size=float(median(ratios)),
        largest=Extreme(step.series.case, step.ratio),
        newest=_newest(group) if worst.end is None else None,
        reason=f"{counted(len(group), 'case')} {word}: {ranged(ratios[0], ratios[-1])} the time",
        cause=cause,
        reproduce=_check(pair, options),
    )


def group_transitions(
    transitions: Iterable[Transition],
    families: Mapping[Case, str],
    tags: tuple[str, ...],
    sources: Sources,
    options: str,
) -> Iterator[HistoryFinding]:
    """Return one finding for all cases that were lost, or appeared, at one place for one reason.

    Parameters
    ----------
    options
        With which `check` reads the same rounds.
    """
    groups: dict[tuple[object, ...], list[Transition]] = defaultdict(list)
    for found in transitions:
        groups[found.before, found.point, found.code, _reason(found.why), found.end].append(found)
    for group in groups.values():
        first = group[0]
        pair = tags[first.before], tags[first.point]
        verdict = REASONS[first.code].verdict
        kind = Kind.APPEARED if verdict is Verdict.NEW else Kind.LOST
        verb = "run now, before" if kind is Kind.APPEARED else f"{first.code} now"
        yield HistoryFinding(
            id=_slug(kind, pair[1], first.code, _reason(first.why)),
            kind=kind,
            metric=Metric.KERNEL_TIME,
            last_good=pair[0],
            first_bad=pair[1],
            verdict=verdict,
            standing=first.end is None,
            gates=True,
            recovered_by=None if first.end is None else tags[first.end],
            families=tuple(dict.fromkeys(families[found.case] for found in group)),
            cases=tuple(found.case for found in group),
            size=None,
            largest=None,
            reason=f"{counted(len(group), 'case')} {verb}: {first.why}",
            cause=coverage_cause(first.why, sources, pair),
            reproduce=_check(pair, options),
        )


def named_apart(
    findings: Iterable[HistoryFinding], tags: Sequence[str]
) -> tuple[HistoryFinding, ...]:
    """Give every finding an id of its own.

    What stands keeps the one that it has, so that it never means something else; what was taken
    back says by which release. Where cases have different releases before one change, as not all
    hold them, those with an older one name it.
    """
    found = tuple(findings)
    latest: dict[str, str] = {}
    for finding in sorted(found, key=lambda f: tags.index(f.last_good)):
        latest[finding.id] = finding.last_good
    named: dict[str, HistoryFinding] = {}
    for finding in found:
        name = finding.id
        if finding.last_good != latest[finding.id]:
            name += f"-after-{finding.last_good}"
        if finding.recovered_by is not None:
            name += f"-until-{finding.recovered_by}"
        while name in named:
            name += "-too"
        named[name] = msgspec.structs.replace(finding, id=name)
    return tuple(named.values())


def _newest(group: Iterable[Told]) -> Extreme | None:
    """Return the case that differs most between the last release without it and the newest."""
    known = [(told.change.series.case, told.newest) for told in group if told.newest is not None]
    if not known:
        return None
    return Extreme(*max(known, key=lambda one: abs(float(np.log(one[1].estimate)))))


def _check(pair: tuple[str, str], options: str) -> str:
    return f"python -m regress check {pair[0]} {pair[1]} {options}".rstrip()


def _reason(why: str) -> str:
    """Return what reasons with one cause have in common: numbers and paths differ by case."""
    return re.sub(r"\S*[/0-9]\S*", "", why).strip()[:60]


def _slug(*parts: str) -> str:
    text = "-".join(msgspec.to_builtins(part) for part in parts)
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")
