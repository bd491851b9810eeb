"""PELT with the penalty that a textbook would take."""

from collections.abc import Sequence
from math import log
from typing import Final

import numpy as np

from regress.config import HistoryRule
from regress.stats.exact import Floats
from regress.stats.segments import spread_of

__all__ = ["pelt_points"]

_PENALTY: Final = 2.0


def pelt_points(series: Sequence[Floats], rule: HistoryRule) -> list[list[int]]:  # noqa: ARG001 - all are given it
    """Return the first index of every segment but the first."""
    import ruptures

    found = []
    for values in (np.log(np.median(rounds, axis=1)) for rounds in series):
        penalty = _PENALTY * log(values.size) * spread_of(values) ** 2
        search = ruptures.Pelt(model="l2", min_size=2, jump=1).fit(values.reshape(-1, 1))
        found.append([int(end) for end in search.predict(pen=penalty)[:-1]])
    return found
