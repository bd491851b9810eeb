"""How much larger one sample is than another, as a ratio with an exact interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regress.stats.exact import Floats, Strata, critical, null_cdf, sizes_of

__all__ = ["Shift", "logs", "shift"]


@dataclass(frozen=True, slots=True)
class Shift:
    """Head minus base on the log scale.

    Attributes
    ----------
    estimate
        Hodges-Lehmann estimate, the median of all pairwise differences within strata.
    low, high
        Ends of the distribution-free interval; infinite where so few values bound nothing.
    confidence
        Exact two-sided coverage of the interval; 0 if it is unbounded.
    """

    estimate: float
    low: float
    high: float
    confidence: float


def logs(values: Sequence[float]) -> Floats:
    """Natural logarithms of positive values, as an array."""
    return np.log(np.asarray(values, dtype=np.float64))


def shift(strata: Strata, alpha: float) -> Shift:
    """Estimate the shift from base to head; each end of the interval errs with at most `alpha`.

    Some stratum must have values on both sides. The interval holds the shifts that the one-sided
    exact tests at `alpha` do not reject (Hodges and Lehmann 1963; Moses).
    """
    pairs = [(head[:, None] - base[None, :]).ravel() for base, head in strata]
    differences = np.sort(np.concatenate(pairs))
    estimate = float(np.median(differences))
    sizes = sizes_of(strata)
    cut = critical(sizes, alpha)
    if cut is None:
        return Shift(estimate, -np.inf, np.inf, 0.0)
    confidence = 1 - 2 * float(null_cdf(sizes)[cut])
    return Shift(estimate, float(differences[cut]), float(differences[-1 - cut]), confidence)
