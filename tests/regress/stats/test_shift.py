"""The Hodges-Lehmann shift and its interval."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress.stats.exact import p_greater
from regress.stats.shift import Shift, logs, shift

times = st.lists(st.floats(1, 1e4), min_size=1, max_size=9)


def _shift(base: list[float], head: list[float]) -> Shift:
    return shift([(logs(base), logs(head))], 0.05)


@given(times, times)
def test_swapping_sides_negates(base: list[float], head: list[float]) -> None:
    """The shift from head to base is minus the one from base to head."""
    there, back = _shift(base, head), _shift(head, base)
    assert there.estimate == pytest.approx(-back.estimate)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


@given(times, times)
def test_interval_holds_the_estimate(base: list[float], head: list[float]) -> None:
    """The estimate lies in its interval."""
    found = _shift(base, head)
    assert found.low <= found.estimate <= found.high


def test_too_few_values_bound_nothing() -> None:
    """2 v 2 has no 5 % end, so the interval is unbounded and claims no confidence."""
    found = _shift([1.0, 2.0], [3.0, 4.0])
    assert (found.low, found.high, found.confidence) == (-math.inf, math.inf, 0.0)


@given(st.lists(st.floats(1, 100), min_size=5, max_size=7, unique=True))
def test_interval_and_test_agree(head: list[float]) -> None:
    """What lies just below the interval's low end is rejected at alpha, just above it is not."""
    base, moved = logs([10.0, 11.3, 12.9, 14.1, 15.7]), logs(head)
    low = shift([(base, moved)], 0.05).low
    assert p_greater([(base, moved)], low - 1e-9) <= 0.05
    assert p_greater([(base, moved)], low + 1e-9) > 0.05


def test_coverage_is_as_stated() -> None:
    """Over seeded normal samples the interval covers the truth as often as it says."""
    rng, trials, covered, stated = np.random.default_rng(7), 1500, 0, 0.0
    for _ in range(trials):
        base, head = (rng.normal(centre, 1, 5) for centre in (0.0, 0.7))
        found = shift([(base, head)], 0.05)
        covered += found.low <= 0.7 <= found.high
        stated = found.confidence
    assert covered / trials == pytest.approx(stated, abs=0.025)


@given(times, times, st.floats(-5, 5))
def test_a_campaign_that_lies_apart_changes_nothing(
    base: list[float], head: list[float], apart: float
) -> None:
    """What all values of one stratum have in common moves neither estimate nor interval."""
    first = (logs(base), logs(head))
    plain = shift([first, first], 0.05)
    moved = shift([first, (first[0] + apart, first[1] + apart)], 0.05)
    assert moved.estimate == pytest.approx(plain.estimate, abs=1e-9)
    assert (moved.low, moved.high) == pytest.approx((plain.low, plain.high), abs=1e-9)
