"""Many series over one line of points, in strata: levels, and exact tests between spans of points.

A panel holds logarithms of times: for every stratum (a campaign, of which only rounds among
themselves may be compared) an array of shape (series, points, rounds), NaN where there is none.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from regress.stats.exact import Floats, Sizes, Strata, null_cdf

__all__ = ["Ints", "Pairing", "Panel", "p_values", "rises", "smallest_p"]

Ints = NDArray[np.int64]
_MOST_COMPARED: Final = 20_000_000
"""Comparisons made at once: bounds the memory."""
_MOST_CODES: Final = 2.0**62


@dataclass(frozen=True, slots=True)
class Pairing:
    """Pairs of spans of points that are compared in every series: the earlier with the later.

    Attributes
    ----------
    base_start, head_start
        First point of each span; shape (pairs,).
    base_width, head_width
        Points in it.
    """

    base_start: Ints
    base_width: int
    head_start: Ints
    head_width: int

    @classmethod
    def around(cls, points: int, before: int, after: int) -> "Pairing":
        """Return the spans before and after each boundary at which both fit into the line."""
        edges = np.arange(before, points - after + 1, dtype=np.int64)
        return cls(edges - before, before, edges, after)

    @property
    def size(self) -> int:
        """Number of pairs."""
        return int(self.base_start.size)


@dataclass(frozen=True)
class Panel:
    """Logarithms by stratum.

    Attributes
    ----------
    strata
        Arrays of shape (series, points, rounds); NaN where there is no round.
    """

    strata: tuple[Floats, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of series and of points."""
        series, points, _ = self.strata[0].shape
        return series, points

    @cached_property
    def counts(self) -> Ints:
        """Rounds; shape (series, points, strata)."""
        counts = [np.isfinite(stratum).sum(axis=2) for stratum in self.strata]
        return np.stack(counts, axis=2)

    @cached_property
    def alike(self) -> tuple[Ints, Ints]:
        """The distinct tables of counts, and which one each series has."""
        series, points = self.shape
        flat = self.counts.reshape(series, points * len(self.strata))
        if (flat == flat[:1]).all():
            return self.counts[:1], np.zeros(self.shape[0], dtype=np.int64)
        _, first, inverse = np.unique(flat, axis=0, return_index=True, return_inverse=True)
        return self.counts[first], inverse.ravel()

    @cached_property
    def level(self) -> Floats:
        """The logarithm of every point's time, with the strata's own effects taken out.

        Least squares over the medians of (point, stratum), each weighted by its rounds: the
        additive two-way model. Series with the same rounds are solved at once. Shape (series,
        points); NaN without a round. Points that no chain of strata joins keep an unknown distance.
        """
        medians = np.stack([_median(stratum) for stratum in self.strata], axis=2)
        if medians.shape[2] == 1:
            return medians[:, :, 0]
        found = np.full(self.shape, np.nan)
        tables, kinds = self.alike
        for number, counts in enumerate(tables):
            rows = np.flatnonzero(kinds == number)
            measured, solved = _two_way(medians[rows], counts)
            found[np.ix_(rows, measured)] = solved
        return found

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """Sums of levels up to each point, and how many points have one."""
        known = np.isfinite(self.level)
        return _sums(np.where(known, self.level, 0.0)), _sums(known.astype(np.float64))

    @cached_property
    def mirrored(self) -> "Panel":
        """The panel with its sign changed: what was faster is slower."""
        return Panel(tuple(-stratum for stratum in self.strata))

    def strata_between(self, series: int, base: slice, head: slice) -> Strata:
        """Return (base, head) of one series in every stratum that has rounds of both."""
        found = []
        for stratum in self.strata:
            sides = stratum[series, base].ravel(), stratum[series, head].ravel()
            before, after = (side[np.isfinite(side)] for side in sides)
            if before.size and after.size:
                found.append((before, after))
        return found


def _two_way(medians: Floats, counts: Ints) -> tuple[Ints, Floats]:
    """Return the points that have rounds, and their levels; shape (series, those points).

    Medians have shape (series, points, strata), counts (points, strata).
    """
    points, strata = np.nonzero(counts)
    root = np.sqrt(counts[points, strata])[:, None]
    design = np.zeros((points.size, sum(counts.shape)))
    design[np.arange(points.size), points] = 1
    design[np.arange(points.size), counts.shape[0] + strata] = 1
    solved = np.linalg.lstsq(design * root, medians[:, points, strata].T * root, rcond=None)[0]
    measured, used = np.unique(points), np.unique(strata)
    mean = solved[counts.shape[0] :][used].mean(axis=0) if used.size else 0.0
    found: Floats = (solved[measured] + mean).T
    return measured, found


def _median(stratum: Floats) -> Floats:
    """Median over rounds; NaN without one, and no warning of it."""
    ordered = np.sort(stratum, axis=2)
    counts = np.isfinite(stratum).sum(axis=2)
    last = stratum.shape[2] - 1
    middle = (np.maximum(counts - 1, 0) // 2, np.minimum(counts // 2, last))
    low, high = (np.take_along_axis(ordered, at[:, :, None], axis=2)[:, :, 0] for at in middle)
    found: Floats = np.where(counts > 0, (low + high) / 2, np.nan)
    return found


def rises(panel: Panel, pairing: Pairing) -> Floats:
    """Return how far the mean level of the later span is above the earlier one's.

    Shape (series, pairs); NaN where a span has no level. It only tells where to look.
    """
    base = [_span(s, pairing.base_start, pairing.base_width) for s in panel.sums]
    head = [_span(s, pairing.head_start, pairing.head_width) for s in panel.sums]
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = head[0] / head[1] - base[0] / base[1]
    return found


def _sums(values: Floats) -> Floats:
    start = np.zeros((values.shape[0], 1), dtype=values.dtype)
    return np.concatenate((start, values.cumsum(axis=1)), axis=1)


def _span(sums: Floats, start: Ints, width: int) -> Floats:
    if (np.diff(start) == 1).all():  # A slice is copied faster than a choice.
        first, last = int(start[0]), int(start[-1]) + 1
        return sums[:, first + width : last + width] - sums[:, first:last]
    found: Floats = sums[:, start + width] - sums[:, start]
    return found


def _sizes(counts: Ints, pairing: Pairing) -> Ints:
    """Return rounds of both spans by stratum, 0 and 0 where one has none.

    Shape (tables, pairs, strata, 2).
    """
    sums = np.concatenate((np.zeros_like(counts[:, :1]), counts.cumsum(axis=1)), axis=1)
    base = sums[:, pairing.base_start + pairing.base_width] - sums[:, pairing.base_start]
    head = sums[:, pairing.head_start + pairing.head_width] - sums[:, pairing.head_start]
    both = ((base > 0) & (head > 0))[..., None]
    found: Ints = np.where(both, np.stack((base, head), axis=-1), 0)
    return found


def _key(row: Ints) -> Sizes:
    return tuple((int(base), int(head)) for base, head in row.reshape(-1, 2) if base and head)


def smallest_p(panel: Panel, pairing: Pairing) -> Floats:
    """Return the smallest p-value that the rounds at hand could give; 1 where there is no test.

    It depends on numbers of rounds only, never on times. Shape (tables of `alike`, pairs).
    """
    sizes = _sizes(panel.alike[0], pairing)
    rows, inverse = _distinct(sizes.reshape(-1, sizes.shape[2] * 2))
    keys = [_key(row) for row in rows]
    least = np.array([null_cdf(key)[0] if key else 1.0 for key in keys])
    found: Floats = least[inverse].reshape(sizes.shape[:2])
    return found


def _distinct(rows: Ints) -> tuple[Ints, Ints]:
    """Return the distinct rows and which one each is; by a code for each, as long as that fits."""
    spans = rows.max(axis=0).astype(np.float64) + 1
    if spans.prod() >= _MOST_CODES:
        kinds, inverse = np.unique(rows, axis=0, return_inverse=True)
        return kinds, inverse.ravel()
    radix = np.concatenate(([1.0], spans.cumprod()[:-1])).astype(np.int64)
    _, first, inverse = np.unique(rows @ radix, return_index=True, return_inverse=True)
    return rows[first], inverse


def p_values(panel: Panel, pairing: Pairing, at: tuple[Ints, Ints], beyond: Floats) -> Floats:
    """One-sided exact p-values that later spans are slower by more than `beyond`.

    Every round of the later span is compared with every one of the earlier, within strata. A
    small p-value says: some point of the later span is slower than some point of the earlier by
    more than that. (If none is, one distribution lies between all of the later ones and all of
    the earlier ones moved up by `beyond`, and with it on both sides there are at least as many
    wins: so the test stays valid if points of a span differ among themselves.) Ties count against
    it. For faster, give the mirrored panel.

    Parameters
    ----------
    at
        Series and pairs to test; each of shape (tests,).
    beyond
        By series, as a logarithm; shape (series,).
    """
    series, pairs = at
    wins = np.zeros(series.size, dtype=np.int64)
    for stratum in panel.strata:
        reach = pairing.base_width * pairing.head_width * stratum.shape[2] ** 2
        step = max(1, _MOST_COMPARED // reach)
        for start in range(0, series.size, step):
            part = slice(start, start + step)
            rows, which = series[part], pairs[part]
            base = _gather(stratum, rows, pairing.base_start[which], pairing.base_width)
            head = _gather(stratum, rows, pairing.head_start[which], pairing.head_width)
            higher = head[:, :, None] - beyond[rows][:, None, None] > base[:, None, :]
            wins[part] += np.count_nonzero(higher, axis=(1, 2))
    tables, kinds = panel.alike
    return _tails(wins, _sizes(tables, pairing)[kinds[series], pairs])


def _gather(stratum: Floats, rows: Ints, start: Ints, width: int) -> Floats:
    points = start[:, None] + np.arange(width)[None, :]
    found: Floats = stratum[rows[:, None], points].reshape(rows.size, -1)
    return found


def _tails(wins: Ints, sizes: Ints) -> Floats:
    """Return P(U >= wins) for each row's own numbers of rounds."""
    found = np.ones(wins.size)
    if not wins.size:
        return found
    rows, inverse = _distinct(sizes.reshape(wins.size, -1))
    for number, row in enumerate(rows):
        if key := _key(row):
            chosen = np.flatnonzero(inverse == number)
            cdf = null_cdf(key)
            found[chosen] = cdf[cdf.size - 1 - wins[chosen]]
    return found
