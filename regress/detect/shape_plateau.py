"""Detector of shapes: batches that stand out of the plateau behind a threshold."""

from collections.abc import Iterable, Iterator
from statistics import median
from typing import Final

from regress.config import ThresholdsRule
from regress.detect.threshold import above, ratio_between
from regress.model.line import Line, TimesUs
from regress.model.shape import ShapeFinding, ShapeKind

__all__ = ["detect_plateau"]

_FEWEST: Final = 4


def detect_plateau(lines: Iterable[Line], rule: ThresholdsRule) -> Iterator[ShapeFinding]:
    """Compare the skewed batches that are not split with the typical one of them.

    At equal KV tokens the longest request is the same in all of them, so time should be, too.
    """
    for line in lines:
        points = [(p.batch, p.skewed_us) for p in line.points if p.splits is False and p.skewed_us]
        if len(points) >= _FEWEST:
            yield _found(line, points, rule)


def _found(line: Line, points: list[tuple[int, TimesUs]], rule: ThresholdsRule) -> ShapeFinding:
    typical = {batch: median(us for c in times.values() for us in c) for batch, times in points}
    # A batch size of the line's own, so that the ratio is taken within campaigns.
    middle = sorted(typical, key=typical.__getitem__)[(len(typical) - 1) // 2]
    level, bumps, worst, where = dict(points)[middle], [], 1.0, middle
    for batch, times in points:
        ratio = ratio_between(level, times, rule.interval_alpha)
        if above(ratio, rule.ripple_above, rule.unproved):
            bumps.append(batch)
        if ratio and ratio.estimate > worst:
            worst, where = ratio.estimate, batch
    message = (
        f"{typical[middle]:,.0f} us at batch {middle}; at worst {worst:.2f}x of that at batch "
        f"{where}, over {len(points)} sizes from {points[0][0]} to {points[-1][0]}"
    )
    if bumps:
        message += f"; above {rule.ripple_above:.2f}x at batch {', '.join(map(str, bumps))}"
    axis = line.axis
    return ShapeFinding(
        kind=ShapeKind.PLATEAU,
        line=f"{axis.shape}-{axis.distribution}-t{axis.tokens}",
        backend=axis.backend,
        mode=axis.mode,
        notable=bool(bumps),
        message=message,
        figures={"worst": worst, "worst_batch": where, "level_us": typical[middle]}
        | {"bumps": len(bumps)},
    )
