"""Straight lines and trends."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from regress.stats.trend import p_rising, straight


def test_a_straight_line_is_found() -> None:
    """Points on a line give its slope and intercept, and nothing is left over."""
    found = straight([1.0, 2.0, 5.0], [12.0, 14.0, 20.0])
    assert (found.slope, found.intercept) == (pytest.approx(2), pytest.approx(10))
    assert found.r_squared == pytest.approx(1)
    assert found.worst == pytest.approx(0, abs=1e-9)


def test_a_point_off_the_line_shows() -> None:
    """The largest relative distance is told."""
    assert straight([1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 33.0, 40.0]).worst > 0.04


@given(st.lists(st.floats(0.5, 2.0), min_size=3, max_size=7, unique=True))
def test_the_p_value_is_kendalls(values: list[float]) -> None:
    """Without ties it is the exact one-sided p-value of Kendall's test."""
    theirs = kendalltau(range(len(values)), values, method="exact", alternative="greater").pvalue
    assert p_rising(values) == pytest.approx(theirs)


def test_the_null_distribution_is_that_of_all_orders() -> None:
    """Of 24 orders of four numbers one has all pairs rising."""
    found = sorted(p_rising(order) for order in permutations([1.0, 2.0, 3.0, 4.0]))
    assert found[0] == pytest.approx(1 / 24)
    assert found[-1] == pytest.approx(1)


def test_equal_numbers_do_not_rise() -> None:
    """Ties count against a trend."""
    assert p_rising([1.0, 1.0, 1.0, 1.0]) == pytest.approx(1)
