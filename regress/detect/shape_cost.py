"""Detector of shapes: what FA3's prepare and merge steps cost."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from regress.config import ThresholdsRule
from regress.detect.threshold import above, ratio_between
from regress.model.finding import Ratio
from regress.model.line import Curves, Extra, TimesUs
from regress.model.shape import ShapeFinding, ShapeKind

__all__ = ["detect_cost"]


def detect_cost(head: Curves, _base: Curves | None, rule: ThresholdsRule) -> Iterator[ShapeFinding]:
    """Compare each workload with and without the step; one finding a pair of backends."""
    pairs: dict[tuple[str, str, str], list[tuple[Extra, Ratio]]] = defaultdict(list)
    for extra in head.extras:
        ratio = ratio_between(extra.without_us, extra.with_us, rule.interval_alpha)
        if ratio is not None:
            pairs[extra.step, extra.backend, extra.without].append((extra, ratio))
    for _, found in sorted(pairs.items()):
        yield _cost(found, rule)


def _cost(found: Sequence[tuple[Extra, Ratio]], rule: ThresholdsRule) -> ShapeFinding:
    first = found[0][0]
    costs_us = [_typical(e.with_us) - _typical(e.without_us) for e, _ in found]
    ratios = [ratio.estimate for _, ratio in found]
    dear = [e.workload for e, r in found if above(r, rule.ripple_above, rule.unproved)]
    where = f"over {len(found)} workloads" if len(found) > 1 else f"on {first.workload}"
    message = (
        f"{first.step} step against {first.without}: {median(costs_us):+.1f} us, "
        f"{median(ratios):.3f}x (median), {max(ratios):.3f}x at most, {where}"
    )
    if dear:
        message += f"; above {rule.ripple_above:.2f}x on {len(dear)}, e.g. {dear[0]}"
    return ShapeFinding(
        kind=ShapeKind(first.step),
        line=first.workload if len(found) == 1 else f"{len(found)} workloads",
        backend=first.backend,
        mode=first.mode,
        notable=bool(dear),
        message=message,
        figures={
            "median_us": median(costs_us),
            "median_ratio": median(ratios),
            "highest_ratio": max(ratios),
            "lowest_ratio": min(ratios),
            "workloads": len(found),
        },
    )


def _typical(times: TimesUs) -> float:
    return median(us for c in times.values() for us in c)
