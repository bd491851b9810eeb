"""Detector `ab`: is head slower or faster than base, cell by cell."""

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from regress.config import Config, TimeRule
from regress.detect.decide import bounds, decide, is_small
from regress.detect.evidence import changes, cycles_ratio, same_kernel
from regress.model.cell import Cell, value
from regress.model.finding import Finding, Measured, Metric, RoundIds, Series
from regress.model.reason import REASONS, Reason, ReasonCode

__all__ = ["detect_kernel_time", "detect_plan_time", "judged"]

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
        code, measured = decision.code, decision.measured
        if metric is Metric.KERNEL_TIME:
            # Host code may differ where the kernel is the same, and has no SM cycles.
            code = judged(code, cell)
            measured = replace(measured, cycles=cycles_ratio(cell, rule.equivalence_alpha))
        counts = sum(len(base) for base, _ in pairs), sum(len(head) for _, head in pairs)
        yield Finding(
            detector=_NAME,
            family=cell.family,
            series=Series(cell.case, metric),
            verdict=REASONS[code].verdict,
            reason=Reason(code, _message(code, measured, counts, cell)),
            rounds=RoundIds(cell.base.ids(), cell.head.ids()),
            gates=rule.gates,
            measured=measured,
            evidence=changes(cell, config.evidence),
        )


def judged(code: ReasonCode, cell: Cell) -> ReasonCode:
    """Return the code, or that of a noise alarm if the same kernel is said to have changed."""
    change = code in {ReasonCode.SLOWER, ReasonCode.FASTER}
    return ReasonCode.NOISE_ALARM if change and same_kernel(cell) else code


def _message(code: ReasonCode, measured: Measured, counts: tuple[int, int], cell: Cell) -> str:
    text = {
        ReasonCode.SLOWER: f"slower beyond {measured.margin:.1%}, p = {measured.p_slower:.3g}",
        ReasonCode.FASTER: f"faster beyond {measured.margin:.1%}, p = {measured.p_faster:.3g}",
        ReasonCode.EQUIVALENT: f"equal within {measured.floor:.1%}",
        ReasonCode.TOO_FEW_ROUNDS: (
            f"needs {measured.rounds_needed} rounds a side, has {counts[0]} and {counts[1]}"
        ),
        ReasonCode.INSIDE_NOISE: f"shift shown, but this cell's margin is {measured.margin:.1%}",
        ReasonCode.WIDE_INTERVAL: f"not shown equal within {measured.floor:.1%}; {_cure(measured)}",
        ReasonCode.NOISE_ALARM: f"the same kernel, yet times differ beyond {measured.margin:.1%}",
    }[code]
    if code is ReasonCode.TOO_FEW_ROUNDS:
        return text
    across = " (no campaign holds both sides: compared across campaigns)" if cell.block else ""
    return f"{text}, {counts[0]} against {counts[1]} rounds{across}"


def _cure(measured: Measured) -> str:
    if measured.rounds_needed is None:
        return "the difference is near the floor or too noisy: more rounds may not decide"
    return f"about {measured.rounds_needed} rounds a side would decide"
