"""Byte-identical stacks as measured: how far apart they are, and whether p-values are uniform."""

from collections.abc import Sequence
from math import expm1, inf, isfinite, log1p
from statistics import median
from typing import Final

import numpy as np

from regress.model.rates import Offsets, Uniformity
from regress.pipeline.calibrate.setting import Source
from regress.stats.exact import Floats, Strata, null_cdf
from regress.stats.shift import Shift, shift
from workloads.record import Case

__all__ = ["offsets", "p_values", "uniformity"]

_ALPHA: Final = 0.05
_RELABELLINGS: Final = 999
_PURPOSE: Final = 4


def offsets(sources: Sequence[Source], cases: Sequence[Case], margin: float) -> tuple[Offsets, ...]:
    """Return the offsets of the twins over all campaigns, then in each if there are several."""
    usable = [s for s in sources if s.sides]
    parts = {"": usable} if len(usable) > 1 else {}
    parts |= {s.campaign: [s] for s in usable}
    return tuple(_offsets(name, part, cases, margin) for name, part in parts.items())


def _offsets(name: str, sources: Sequence[Source], cases: Sequence[Case], margin: float) -> Offsets:
    found = [shift(_strata(sources, cell), _ALPHA) for cell in range(len(cases))]
    sizes = [s.sides or (0, 0) for s in sources]
    worst = max(range(len(cases)), key=lambda cell: abs(found[cell].estimate))
    beyond = log1p(margin)
    return Offsets(
        campaign=name,
        rounds=(sum(a for a, _ in sizes), sum(b for _, b in sizes)),
        cells=len(cases),
        median_offset=median(abs(expm1(f.estimate)) for f in found),
        median_reach=median((f.high - f.low) / 2 for f in found),
        beyond_margin=sum(abs(f.estimate) > beyond for f in found),
        shown_beyond=sum(_leaves_out(f, beyond) for f in found),
        shown=sum(_leaves_out(f, 0.0) for f in found),
        worst=cases[worst],
        worst_offset=expm1(found[worst].estimate),
        worst_low=_relative(found[worst].low),
        worst_high=_relative(found[worst].high),
    )


def _strata(sources: Sequence[Source], cell: int) -> Strata:
    return [(s.twins[0].values.time[:, cell], s.twins[1].values.time[:, cell]) for s in sources]


def _leaves_out(found: Shift, beyond: float) -> bool:
    return found.low > beyond or found.high < -beyond


def _relative(end: float) -> float | None:
    return expm1(end) if isfinite(end) else None


def uniformity(sources: Sequence[Source], seed: int) -> tuple[Uniformity, ...]:
    """Return how uniform p-values of the twins are, over all campaigns and in each."""
    rng = np.random.default_rng([seed, _PURPOSE])
    usable = [s for s in sources if s.sides]
    if not usable:
        return ()
    by_campaign = [_relabelled(source, rng) for source in usable]
    parts = {"": np.concatenate(by_campaign, axis=1)} if len(usable) > 1 else {}
    parts |= {s.campaign: rows for s, rows in zip(usable, by_campaign, strict=True)}
    return tuple(_uniformity(name, rows) for name, rows in parts.items())


def _relabelled(source: Source, rng: np.random.Generator) -> Floats:
    """Return p-values by cell as measured (first row), then with the rounds' stacks shuffled."""
    base = source.twins[0].values.time
    together = np.concatenate((base, source.twins[1].values.time))
    rows = [p_values(base, source.twins[1].values.time)]
    for _ in range(_RELABELLINGS):
        order = rng.permutation(together.shape[0])
        rows.append(p_values(together[order[: len(base)]], together[order[len(base) :]]))
    return np.array(rows)


def p_values(base: Floats, head: Floats) -> Floats:
    """Return what `p_greater` gives for every cell; the sides have shape (rounds, cells)."""
    wins = np.count_nonzero(head[:, None] > base[None], axis=(0, 1))
    cdf = null_cdf(((len(base), len(head)),))
    found: Floats = cdf[cdf.size - 1 - wins]
    return found


def _uniformity(campaign: str, rows: Floats) -> Uniformity:
    distances = [_distance(row) for row in rows]
    reached = sum(d >= distances[0] for d in distances)
    return Uniformity(
        campaign=campaign,
        p_values=rows.shape[1],
        distance=distances[0],
        p_value=reached / len(distances),
        below_5=float(np.mean(rows[0] <= 0.05)),  # noqa: PLR2004 - the name says it
        below_1=float(np.mean(rows[0] <= 0.01)),  # noqa: PLR2004 - the name says it
    )


def _distance(values: Floats) -> float:
    """Return the largest distance of these p-values' distribution from the uniform one."""
    ordered = np.sort(values)
    steps = np.arange(values.size + 1) / values.size
    return float(max(np.max(steps[1:] - ordered), np.max(ordered - steps[:-1]), -inf))
