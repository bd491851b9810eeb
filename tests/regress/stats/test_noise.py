"""The noise of a cell."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from regress.stats.noise import pooled_sd, upper_sd


def _groups(rng: np.random.Generator, sigma: float, groups: int = 40) -> list[list[float]]:
    return [[100 * math.exp(rng.normal(0, sigma)) for _ in range(5)] for _ in range(groups)]


def test_finds_the_standard_deviation() -> None:
    """On normal data the estimate is the standard deviation."""
    assert pooled_sd(_groups(np.random.default_rng(1), 0.003))[0] == pytest.approx(0.003, rel=0.1)


def test_groups_may_lie_apart() -> None:
    """A shift between groups is no noise."""
    assert pooled_sd([[100.0, 100.0], [300.0, 300.0]]) == (0.0, 2)


def test_a_second_mode_counts() -> None:
    """A quarter of processes 3 % slower is noise of about 1.5 %, however quiet each is."""
    assert pooled_sd([[100.0, 100.0, 100.0, 103.0]] * 4)[0] == pytest.approx(0.0148, rel=0.01)


def test_degrees_are_values_less_groups() -> None:
    """Each group costs one degree of freedom, and an empty one none."""
    assert pooled_sd([[1.0, 2.0, 3.0], [1.0, 2.0], []])[1] == 3
    assert pooled_sd([]) == (0.0, 0)


@pytest.mark.parametrize("degrees", [5, 9, 20, 60])
def test_upper_bound_is_that_of_chi_square(degrees: int) -> None:
    """The bound is the exact one within 1 %."""
    exact = 0.01 * math.sqrt(degrees / chi2.ppf(0.2, degrees))
    assert upper_sd(0.01, degrees, 0.8) == pytest.approx(exact, rel=0.01)


@given(st.lists(st.floats(1, 100), min_size=2, max_size=6), st.floats(0.01, 100))
def test_scale_does_not_matter(group: list[float], factor: float) -> None:
    """Noise is relative: scaling all values leaves it."""
    scaled = pooled_sd([[v * factor for v in group]])[0]
    assert scaled == pytest.approx(pooled_sd([group])[0], abs=1e-9)
