"""Drawing whole processes again: all numbers of one process stay together.

Drawing n processes with replacement has two flaws: the variance comes out by 1/n too small, and
the same process on both sides makes ties, which the exact tests count against a change. Both are
cured by moving every draw a little (the smoothed bootstrap; Silverman and Young 1987): by normal
noise with 1/n of the processes' own covariance. So the drawn numbers have just the variance of
the recorded ones, and cells that move together still do.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from regress.stats.exact import Floats

__all__ = ["Drawn", "Pool", "Sample"]


@dataclass(frozen=True, slots=True)
class Sample:
    """Some processes' statistics, as logarithms; shapes (processes, cells).

    Attributes
    ----------
    time, spread
        One number of each process and cell.
    """

    time: Floats
    spread: Floats


@dataclass(frozen=True, slots=True)
class Drawn:
    """Which processes were drawn, and how far each of their statistics is moved.

    Attributes
    ----------
    chosen
        Indices into the pool, shape (draws,).
    moved
        Added to the logarithms.
    """

    chosen: NDArray[np.int64]
    moved: Sample

    def of(self, values: Sample) -> Sample:
        """Return the statistics of the drawn processes; `values` are those of the whole pool."""
        return Sample(
            values.time[self.chosen] + self.moved.time,
            values.spread[self.chosen] + self.moved.spread,
        )

    def passes(self, passes: Floats) -> Floats:
        """Return logarithms of pass times, (draws, cells, passes), from those of the pool."""
        found: Floats = passes[self.chosen] + self.moved.time[:, :, None]
        return found


@dataclass(frozen=True, slots=True)
class Pool:
    """Processes that ran the same code in one campaign: at least two."""

    values: Sample

    def draw(self, draws: int, rng: np.random.Generator) -> Drawn:
        """Draw processes with replacement."""
        size = self.values.time.shape[0]
        chosen = rng.integers(size, size=draws)
        weights = rng.standard_normal((draws, size)) / sqrt(size * (size - 1))
        moved = Sample(*(weights @ _centred(v) for v in (self.values.time, self.values.spread)))
        return Drawn(chosen, moved)


def _centred(values: Floats) -> Floats:
    found: Floats = values - values.mean(axis=0)
    return found
