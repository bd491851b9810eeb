"""asv's own detection of steps, its own code."""

from collections.abc import Sequence

import numpy as np

from regress.config import HistoryRule
from regress.stats.exact import Floats

__all__ = ["asv_points"]


def asv_points(series: Sequence[Floats], rule: HistoryRule) -> list[list[int]]:  # noqa: ARG001 - all are given it
    """Return the first index of every step but the first."""
    from asv.step_detect import detect_steps

    medians = (np.median(values, axis=1).tolist() for values in series)
    return [[int(step[0]) for step in detect_steps(values)[1:]] for values in medians]
