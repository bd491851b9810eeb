"""Testing thousands of hypotheses with one error rate, where most could never be rejected."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regress.stats.exact import Floats
from regress.stats.panel import Ints, Pairing, Panel, p_values, rises, smallest_p

__all__ = ["Family", "Mask", "Rejected", "asked", "reject"]

Mask = NDArray[np.bool_]
_Low = tuple[Ints, Ints, Ints, Floats]


@dataclass(frozen=True, slots=True)
class Rejected:
    """Null hypotheses that are rejected; every array has one entry each.

    Attributes
    ----------
    series, pairing, pair
        Which series, which of the pairings, and which pair of it.
    p_adjusted
        For the whole family.
    """

    series: Ints
    pairing: Ints
    pair: Ints
    p_adjusted: Floats


@dataclass(frozen=True, slots=True)
class Family:
    """Hypotheses that share one error rate, in each of the two directions.

    Attributes
    ----------
    pairings
        Spans that are compared.
    eligible
        Which hypotheses there are, by pairing; shape (series, pairs). Must not depend on times.
    beyond
        By series, as a logarithm: "the later span is at most this much slower" is rejected.
    near
        By series: spans whose mean levels are no further apart are not worth a test. They count
        as not rejected, and are adjusted for all the same, so that this may depend on times.
    alpha
        Family-wise error.
    """

    pairings: Sequence[Pairing]
    eligible: Sequence[Mask]
    beyond: Floats
    near: Floats
    alpha: float


def asked(panel: Panel, family: Family) -> tuple[float, int]:
    """Return up to which smallest p-value hypotheses are asked, and how many those are.

    Exact tests with few rounds have a smallest p-value. Those that could not be rejected anyhow
    need not be adjusted for, as numbers of rounds do not depend on times (Tarone 1990). So these
    are asked: as many as could all be rejected at alpha over their number.
    """
    kinds = panel.alike[1]
    values, weights = [np.zeros(0)], [np.zeros(0)]
    for pairing, mask in zip(family.pairings, family.eligible, strict=True):
        least = smallest_p(panel, pairing)
        values.append(least.ravel())
        weights += [mask[kinds == number].sum(axis=0) for number in range(least.shape[0])]
    distinct, inverse = np.unique(np.concatenate(values), return_inverse=True)
    reach = np.bincount(inverse, np.concatenate(weights), distinct.size).cumsum()
    fitting = int(np.count_nonzero(distinct * reach <= family.alpha))  # It grows along the line.
    return (float(distinct[fitting - 1]), int(reach[fitting - 1])) if fitting else (0.0, 0)


def reject(panel: Panel, family: Family) -> tuple[Rejected, Rejected, int]:
    """Reject null hypotheses of each direction with a family-wise error of `family.alpha`.

    Every hypothesis that is asked is adjusted for (Holm 1979); the p-value is computed only where
    mean levels are apart, the others count as not rejected.

    Returns
    -------
    Rejected, Rejected
        Slower and faster.
    int
        How many hypotheses each direction is adjusted for.
    """
    limit, number = asked(panel, family)
    parts: tuple[list[_Low], list[_Low]] = ([], [])
    for n, pairing in enumerate(family.pairings):
        open_pairs = (smallest_p(panel, pairing) <= limit)[panel.alike[1]] & family.eligible[n]
        if number and open_pairs.any():
            rise, near = rises(panel, pairing), family.near[:, None]
            for found, apart, way in zip(
                parts, (rise > near, rise < -near), (panel, panel.mirrored), strict=True
            ):
                series, pair = np.nonzero(apart & open_pairs)
                p = p_values(way, pairing, (series, pair), family.beyond)
                low = np.flatnonzero(p <= family.alpha)
                found.append((series[low], np.full(low.size, n), pair[low], p[low]))
    slower, faster = (_holm(part, number, family.alpha) for part in parts)
    return slower, faster, number


def _holm(parts: list[_Low], number: int, alpha: float) -> Rejected:
    """Adjust the small ones of `number` p-values."""
    none = np.zeros(0, dtype=np.int64)
    columns = zip((none, none, none, np.zeros(0)), *parts, strict=True)
    series, which, pair, p = (np.concatenate(column) for column in columns)
    order = np.argsort(p, kind="stable")
    factors = number - np.arange(order.size)
    adjusted = np.maximum.accumulate(np.minimum(p[order] * factors, 1.0))
    kept = order[adjusted <= alpha]
    return Rejected(series[kept], which[kept], pair[kept], adjusted[: kept.size])
