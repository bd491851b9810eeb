"""Detector `spread`: do a round's passes differ more in head than in base.

The median of the passes is blind to a kernel that is slow in fewer than half of them, and shows
half of the slow-down if it is slow in just half.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from math import log1p
from statistics import median

from regress.config import Config
from regress.detect.decide import is_small, rounds_of, strata_of
from regress.detect.evidence import changes
from regress.model.cell import Cell, value
from regress.model.finding import Finding, Metric, RoundIds, Series, Spread
from regress.model.reason import REASONS, Reason, ReasonCode
from regress.stats.exact import p_greater

__all__ = ["detect_spread", "spread_finding", "spread_margin"]


def detect_spread(cells: Sequence[Cell], config: Config) -> Iterator[Finding]:
    """Say which cells became noisier within a round; of the others nothing is said."""
    rule = config.spread
    for cell in cells:
        pairs = cell.pairs(partial(value, metric=Metric.SPREAD))
        if pairs and rounds_of(pairs) >= rule.min_rounds:
            p_noisier = p_greater(strata_of(pairs), log1p(spread_margin(cell, config)))
            if p_noisier <= rule.alpha:
                yield spread_finding(cell, config, p_noisier)


def spread_margin(cell: Cell, config: Config) -> float:
    """Return the growth of the spread up to which a cell counts as no noisier."""
    small = is_small(cell.pairs(partial(value, metric=Metric.KERNEL_TIME)), config)
    return config.spread.margin.of(cell.noise.get(Metric.SPREAD), small=small, block=cell.block)


def spread_finding(cell: Cell, config: Config, p_noisier: float) -> Finding:
    """Return the finding that head's passes differ more."""
    pairs = cell.pairs(partial(value, metric=Metric.SPREAD))
    base, head = (
        median(v for stratum in side for v in stratum) for side in zip(*pairs, strict=True)
    )
    told = f"slower half of the passes {head - 1:.1%} above the faster, was {base - 1:.1%}"
    return Finding(
        detector="spread",
        family=cell.family,
        series=Series(cell.case, Metric.SPREAD),
        verdict=REASONS[ReasonCode.MORE_SPREAD].verdict,
        reason=Reason(ReasonCode.MORE_SPREAD, f"{told}, p = {p_noisier:.3g}"),
        rounds=RoundIds(cell.base.ids(), cell.head.ids()),
        spread=Spread(base, head, spread_margin(cell, config), p_noisier),
        evidence=changes(cell, config.evidence),
    )
