"""One backend against another on the same workload."""

from collections.abc import Sequence

from regress.detect.decide import ratio_of
from regress.model.finding import Ratio
from regress.stats.shift import logs, shift

__all__ = ["surely_above", "versus"]


def versus(slow_us: Sequence[float], fast_us: Sequence[float], alpha: float) -> Ratio:
    """Return the first's time over the second's; each end of the interval errs with `alpha`."""
    return ratio_of(shift([(logs(fast_us), logs(slow_us))], alpha))


def surely_above(ratio: Ratio, bound: float) -> bool:
    """Return whether the whole interval lies above a bound; an unbounded one never does."""
    return ratio.low is not None and ratio.low > bound
