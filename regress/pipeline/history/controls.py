"""The control group: consecutive releases with identical kernels, and what is said of them."""

from collections import defaultdict

import numpy as np

from regress.config import Config
from regress.detect.history.steps import Line, Nature, find_changes
from regress.model.history import ControlGroup, ControlPair
from regress.model.reason import ReasonCode
from regress.pipeline.history.judged import Judged, previous
from regress.stats.panel import Panel
from regress.stats.rates import upper_rate
from regress.store.sources import Sources
from workloads.record import Case

__all__ = ["control_group"]

_CONFIDENCE = 0.95
_JUDGED = {
    ReasonCode.EQUIVALENT,
    ReasonCode.INSIDE_NOISE,
    ReasonCode.NOISE_ALARM,
    ReasonCode.WIDE_INTERVAL,
}
"""What the rule of a single comparison can say where it may call a change."""


def control_group(judged: Judged, sources: Sources, config: Config) -> ControlGroup:
    """Count pairs of cells that can only have changed by noise, and those that seem to have."""
    lines = judged.lines
    cells: dict[tuple[int, int], list[int]] = defaultdict(list)
    alarms: dict[tuple[int, int], list[Case]] = defaultdict(list)
    for series, points in enumerate(judged.points):
        for point, told in enumerate(points):
            before = previous(lines, series, point)
            # A bridged comparison never says that times changed, so it could raise no alarm.
            judged_alone = told.code in _JUDGED and not told.bridged
            if told.control and before is not None and judged_alone:
                cells[before, point].append(series)
                if told.code == ReasonCode.NOISE_ALARM:
                    alarms[before, point].append(lines.cases[series])
    pairs = tuple(
        ControlPair(
            base=lines.tags[before],
            head=lines.tags[point],
            cells=len(found),
            alarms=tuple(alarms[before, point]),
            same_sources=sources.same(lines.tags[before], lines.tags[point]),
        )
        for (before, point), found in sorted(cells.items(), key=lambda item: item[0][::-1])
    )
    number, wrong = sum(pair.cells for pair in pairs), sum(len(pair.alarms) for pair in pairs)
    return ControlGroup(
        pairs=pairs,
        cells=number,
        alarms=wrong,
        shown=_shown(judged, cells, config),
        rate=wrong / number if number else None,
        upper_rate=_upper(wrong, number),
    )


def _shown(judged: Judged, cells: dict[tuple[int, int], list[int]], config: Config) -> int:
    """Ask the history's own question of the control group alone: how many steps would it show.

    A series is cut wherever its kernel changed: no window may hold a change that is real.
    """
    line = judged.lines.line
    compared = np.zeros(line.panel.shape, dtype=np.bool_)
    for (_, point), series in cells.items():
        compared[series, point] = True
    stretch = np.cumsum(np.isfinite(line.panel.level) & ~compared, axis=1)
    pairs = np.column_stack((np.nonzero(compared)[0], stretch[compared]))
    rows, numbers = np.unique(pairs, axis=0).T
    kept = stretch[rows] == numbers[:, None]
    strata = tuple(np.where(kept[:, :, None], one[rows], np.nan) for one in line.panel.strata)
    nature = np.where((compared[rows] & kept)[:, 1:], Nature.OPEN, Nature.CLOSED).astype(np.int8)
    cut = Line(Panel(strata), line.beyond[rows], line.size[rows], nature)
    return len(find_changes(cut, config.history).steps)


def _upper(wrong: int, number: int) -> float | None:
    try:
        return upper_rate(wrong, number, _CONFIDENCE) if number else None
    except ImportError:
        return None
