"""Detector `ab`: is head slower or faster than base, cell by cell."""

from collections.abc import Iterator, Sequence
from functools import partial

from regress.config import Config, TimeRule
from regress.detect.decide import Decision, bounds, decide
from regress.detect.evidence import changes
from regress.model.cell import Cell, Pairs, value
from regress.model.finding import Finding, Measured, Metric, RoundIds, Series
from regress.model.reason import REASONS, Reason, ReasonCode

__all__ = ["detect_kernel_time", "detect_plan_time", "is_small"]

_NAME = "ab"


def detect_kernel_time(cells: Sequence[Cell], config: Config) -> Iterator[Finding]:
    """Compare kernel times."""
    return _detect(cells, Metric.KERNEL_TIME, config.kernel_time, config)


def detect_plan_time(cells: Sequence[Cell], config: Config) -> Iterator[Finding]:
    """Compare host times of plan()."""
    return _detect(cells, Metric.PLAN_TIME, config.plan_time, config)


def _detect(
    cells: Sequence[Cell], metric: Metric, rule: TimeRule, config: Config
) -> Iterator[Finding]:
    for cell in cells:
        pairs = cell.pairs(partial(value, metric=metric))
        if not pairs:
            continue
        noise = cell.noise.get(metric)
        small = is_small(pairs, config)
        decision = decide(pairs, rule, bounds(rule, noise, small=small, block=cell.block), noise)
        counts = sum(len(base) for base, _ in pairs), sum(len(head) for _, head in pairs)
        yield Finding(
            detector=_NAME,
            family=cell.family,
            series=Series(cell.case, metric),
            verdict=REASONS[decision.code].verdict,
            reason=Reason(decision.code, _message(decision, counts, cell)),
            rounds=RoundIds(cell.base.ids(), cell.head.ids()),
            gates=rule.gates,
            measured=decision.measured,
            evidence=changes(cell, config.evidence),
        )


def is_small(pairs: Pairs, config: Config) -> bool:
    """Whether any kernel time is so short that its cell has minima of its own."""
    shortest = min(v for stratum in pairs for side in stratum for v in side)
    return shortest < config.noise.small_below_us


def _message(decision: Decision, counts: tuple[int, int], cell: Cell) -> str:
    measured = decision.measured
    text = {
        ReasonCode.SLOWER: f"slower beyond {measured.margin:.1%}, p = {measured.p_slower:.3g}",
        ReasonCode.FASTER: f"faster beyond {measured.margin:.1%}, p = {measured.p_faster:.3g}",
        ReasonCode.EQUIVALENT: f"equal within {measured.floor:.1%}",
        ReasonCode.TOO_FEW_ROUNDS: (
            f"needs {measured.rounds_needed} rounds a side, has {counts[0]} and {counts[1]}"
        ),
        ReasonCode.INSIDE_NOISE: f"shift shown, but this cell's margin is {measured.margin:.1%}",
        ReasonCode.WIDE_INTERVAL: f"not shown equal within {measured.floor:.1%}; {_cure(measured)}",
    }[decision.code]
    if decision.code is ReasonCode.TOO_FEW_ROUNDS:
        return text
    across = " (no campaign holds both sides: compared across campaigns)" if cell.block else ""
    return f"{text}, {counts[0]} against {counts[1]} rounds{across}"


def _cure(measured: Measured) -> str:
    if measured.rounds_needed is None:
        return "the difference is near the floor or too noisy: more rounds may not decide"
    return f"about {measured.rounds_needed} rounds a side would decide"
