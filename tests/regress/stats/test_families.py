"""One error rate for thousands of tests."""

import numpy as np
import pytest

from regress.stats.families import Family, asked, reject
from regress.stats.holm import holm
from regress.stats.panel import Pairing, Panel, p_values


def _family(series: int, points: int, alpha: float = 0.05) -> Family:
    pairings = [Pairing.around(points, 2, 2), Pairing.around(points, 1, 1)]
    eligible = [np.ones((series, pairing.size), dtype=np.bool_) for pairing in pairings]
    return Family(pairings, eligible, np.zeros(series), np.full(series, -np.inf), alpha)


def test_what_cannot_be_rejected_is_not_asked() -> None:
    """2 against 2 rounds give 1/6 at best, so only the pairs of 4 against 4 count."""
    panel = Panel((np.zeros((1, 4, 2)),))
    assert asked(panel, _family(1, 4)) == (pytest.approx(1 / 70), 1)
    assert asked(panel, _family(1, 4, alpha=0.01)) == (0.0, 0)


def test_like_holm() -> None:
    """Adjusted p-values are Holm's over everything that is asked."""
    rng = np.random.default_rng(1)
    values = rng.normal(0, 0.1, (5, 4, 6))
    values[:3, 2:] += 1.0
    panel, family = Panel((values,)), _family(5, 4)
    slower, faster, number = reject(panel, family)
    assert faster.series.size == 0
    p = np.concatenate(
        [
            p_values(panel, pairing, (rows, pairs), family.beyond)
            for pairing in family.pairings
            for rows, pairs in [np.indices((5, pairing.size)).reshape(2, -1)]
        ]
    )
    assert number == p.size
    expected = sorted(value for value in holm([float(x) for x in p]) if value <= family.alpha)
    assert sorted(slower.p_adjusted) == pytest.approx(expected)


def test_nothing_eligible() -> None:
    """Without a hypothesis nothing is rejected."""
    panel, family = Panel((np.random.default_rng(1).normal(size=(2, 4, 6)),)), _family(2, 4)
    none = [np.zeros_like(mask) for mask in family.eligible]
    slower, faster, number = reject(
        panel, Family(family.pairings, none, family.beyond, family.near, 0.05)
    )
    assert (slower.series.size, faster.series.size, number) == (0, 0, 0)
