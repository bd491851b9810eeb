"""The whole of `history`: a request in, every change over all releases out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from dataclasses import replace as altered
from typing import Final

import msgspec
import numpy as np

from regress.config import Config
from regress.detect.history.steps import attainable
from regress.errors import ExitCode, NoDataError, UsageError, worst
from regress.model.finding import Metric
from regress.model.history import HISTORY_SCHEMA, Guarantee, History, HistoryFinding
from regress.model.history_series import Drift, Step
from regress.model.note import notes_of
from regress.model.verdict import EXIT_CODES, WORST_FIRST, Verdict, join
from regress.pipeline.history.chain import Chain, choose_chain
from regress.pipeline.history.controls import control_group
from regress.pipeline.history.coverage import Transition, find_transitions
from regress.pipeline.history.findings import (
    Told,
    group_changes,
    group_transitions,
    named_apart,
    plan_changes,
    tell_changes,
)
from regress.pipeline.history.judged import Judged, judge_lines
from regress.pipeline.history.lines import Ranges, build_lines, build_ranges
from regress.pipeline.history.series import releases_of, series_of, with_coverage
from regress.pipeline.history.thresholds import find_moves
from regress.pipeline.request import ANY_TIER, AUTO_TIER, BY_DEFAULT, Request
from regress.stats.rates import NEEDED
from regress.stats.segments import MISSING, can_segment
from regress.store.cache import load_cached
from regress.store.columns import join_sheets
from regress.store.intact import Intact
from regress.store.notes import load_notes
from regress.store.sources import Sources, load_sources
from regress.store.stacks import load_published
from regress.store.tree import Tree, load_known_tags, scan
from regress.store.unrunnable import unmeasured
from workloads import catalog
from workloads.record import Case

__all__ = ["history"]

_METRICS: Final = (Metric.KERNEL_TIME, Metric.PLAN_TIME)


def history(request: Request, config: Config, since: str | None = None) -> History:
    """Find every change over the releases of one machine.

    A damaged round file is named and left out; the rest stands, and the exit code says so.

    Parameters
    ----------
    since
        Only what begins after this release counts, and is told; None for everything.

    Raises
    ------
    UsageError
        If the request is wrong, or nothing is intact.
    NoDataError
        If there are not two releases to compare.
    """
    tree = scan(request.roots)
    machine = _machine(tree, request.machine)
    intact = load_cached(tree, machine)
    intact = altered(intact, warnings=(*intact.warnings, *unmeasured(tree, machine)))
    if not intact.sheets and intact.damaged:
        msg = f"no round file of {machine} is intact, e.g. {intact.damaged[0].problem}"
        raise UsageError(msg)
    chain = choose_chain(join_sheets(intact.sheets), load_published())
    if since is not None and since not in chain.tags:
        msg = f"--since {since}: the history has {', '.join(chain.tags)}"
        raise UsageError(msg)
    options = request.options
    if request.tier == AUTO_TIER:
        request = altered(request, tier=BY_DEFAULT[-1])
    if not request.cases(chain.columns.cases).keys() & {*chain.columns.cases}:
        msg = (
            f"no round of {machine} holds a case of what was asked for: measure tier {request.tier}"
        )
        raise NoDataError(msg)
    return _compose(request, (machine, since, options), intact, chain, config)


def _machine(tree: Tree, wanted: str | None) -> str:
    if not tree.files:
        searched = ", ".join(map(str, tree.roots))
        msg = f"no rounds at all under {searched}: measure first, or use --recorded"
        raise NoDataError(msg)
    return tree.choose_machine((), wanted, load_known_tags())


@dataclass(frozen=True, slots=True)
class _Told:
    """What is shown of all metrics."""

    judged: dict[Metric, Judged]
    changes: tuple[Told, ...]
    transitions: tuple[Transition, ...]
    findings: tuple[HistoryFinding, ...]


def _tell(chain: Chain, ranges: Ranges, sources: Sources, config: Config, options: str) -> _Told:
    judged = {
        metric: judge_lines(build_lines(metric, chain, ranges, sources, config), ranges, config)
        for metric in _METRICS
    }
    if not judged[Metric.KERNEL_TIME].lines.cases:
        msg = "no case has a time in two releases that were measured together"
        raise NoDataError(msg)
    changes = tuple(
        told for found in judged.values() for told in tell_changes(found, ranges, config)
    )
    transitions = tuple(find_transitions(chain, ranges))
    findings = (
        *group_changes(changes, sources, config, options),
        *group_transitions(transitions, ranges.cases, chain.tags, sources, options),
    )
    return _Told(
        judged, changes, transitions, _worst_first(named_apart(findings, chain.tags), chain.tags)
    )


def _compose(
    request: Request,
    about: tuple[str, str | None, str],
    intact: Intact,
    chain: Chain,
    config: Config,
) -> History:
    machine, since, options = about
    sources = load_sources()
    held = {*chain.columns.cases}
    wanted = {c: f for c, f in request.cases(held).items() if c in held}
    ranges = build_ranges(chain, wanted)
    told = _tell(chain, ranges, sources, config, options)
    kernel = told.judged[Metric.KERNEL_TIME]
    series = tuple(
        one
        for found in told.judged.values()
        for one in series_of(found, ranges, told.changes, config)
    )
    start = -1 if since is None else chain.tags.index(since)
    findings = tuple(f for f in told.findings if chain.tags.index(f.first_bad) > start)
    findings = _with_notes(findings)
    verdict, code = _verdict(chain, ranges, kernel, findings)
    steps = (t.change for t in told.changes if isinstance(t.change, Step))
    drifts = (t.change for t in told.changes if isinstance(t.change, Drift))
    # Facts of plans are exact, so those of sweeps and hand-picked cases are as good.
    every = altered(request, tier=ANY_TIER).cases(held)
    moved = find_moves(chain, every, config.thresholds)
    warnings = [*intact.warnings, *chain.warnings, *moved.warnings]
    controls = control_group(kernel, sources, config)
    if controls.cells and controls.upper_rate is None:
        warnings.append(f"how often that is wrong has no bound without scipy: {NEEDED}")
    if any(one.change_points is None for one in series) and _long(chain, config):
        warnings.append(MISSING)
    return History(
        schema=HISTORY_SCHEMA,
        command=request.command,
        machine=machine,
        setup=dict(chain.setup),
        tier=request.tier,
        pattern=request.pattern,
        families=request.families,
        since=since,
        verdict=verdict,
        exit_code=ExitCode.USAGE if intact.damaged else code,
        reference=chain.reference,
        releases=releases_of(chain, kernel, told.transitions, told.changes),
        findings=findings,
        series=tuple(with_coverage(series, told.transitions, chain.tags)),
        steps=tuple(steps),
        drifts=tuple(drifts),
        recovered=tuple(t.recovered for t in told.changes if t.recovered is not None),
        plan_changes=tuple(plan_changes(ranges, chain.tags)),
        threshold_moves=tuple(m for m in moved.moves if chain.tags.index(m.after) > start),
        controls=controls,
        guarantee=_guarantee(kernel, config),
        damaged=intact.damaged,
        warnings=tuple(warnings),
    )


def _with_notes(findings: Iterable[HistoryFinding]) -> tuple[HistoryFinding, ...]:
    notes, order = load_notes(), [stack.tag for stack in load_published()]
    return tuple(msgspec.structs.replace(f, notes=notes_of(f, notes, order)) for f in findings)


def _long(chain: Chain, config: Config) -> bool:
    return len(chain.tags) >= config.history.change_points_from and not can_segment()


def _guarantee(kernel: Judged, config: Config) -> Guarantee:
    least = attainable(kernel.lines.line, config.history)
    usual = float(np.median(least)) if least.size else None
    number = kernel.found.hypotheses
    return Guarantee(
        family_alpha=config.history.family_alpha,
        hypotheses=number,
        smallest_p=None if usual is None else min(1.0, usual * max(number, 1)),
    )


def _verdict(
    chain: Chain, ranges: Ranges, kernel: Judged, findings: Sequence[HistoryFinding]
) -> tuple[Verdict, ExitCode]:
    """Join what stands in the newest release: findings, cells that are open, cases it lacks."""
    newest = len(chain.tags) - 1
    verdicts = [f.verdict for f in findings if f.standing and f.gates]
    points = (points[newest] for points in kernel.points)
    verdicts += [p.verdict for p in points if p.verdict in {Verdict.SAME, Verdict.UNDECIDED}]
    verdicts += [Verdict.NO_DATA for _ in _lacking(chain, ranges)]
    if not verdicts:
        return Verdict.NO_DATA, ExitCode.NO_DATA
    return join(verdicts), worst(EXIT_CODES[verdict] for verdict in verdicts)


def _lacking(chain: Chain, ranges: Ranges) -> list[Case]:
    """Return the cases that the newest release's tiers hold and none of its rounds does."""
    tiers = {h.tier for h in chain.columns.heads if h.tag == chain.tags[-1]} & set(catalog.TIERS)
    due = {e.case for tier in tiers for e in catalog.cases(tier)}
    return [
        case for case, row in ranges.rows.items() if case in due and not ranges.planned[row, -1]
    ]


def _worst_first(
    findings: Iterable[HistoryFinding], tags: Sequence[str]
) -> tuple[HistoryFinding, ...]:
    """Sort: what stands before what was taken back, then by verdict, newest and largest first."""

    def rank(finding: HistoryFinding) -> tuple[bool, bool, int, int, float]:
        size = abs(np.log(finding.largest.ratio.estimate)) if finding.largest else 0.0
        order, place = WORST_FIRST.index(finding.verdict), tags.index(finding.first_bad)
        return not finding.gates, not finding.standing, order, -place, -float(size)

    return tuple(sorted(findings, key=rank))
