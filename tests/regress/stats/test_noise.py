"""The noise of a cell."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress.stats.noise import shamos


def _groups(rng: np.random.Generator, sigma: float, groups: int = 40) -> list[list[float]]:
    return [[100 * math.exp(rng.normal(0, sigma)) for _ in range(5)] for _ in range(groups)]


def test_finds_the_standard_deviation() -> None:
    """On normal data the estimate is the standard deviation."""
    assert shamos(_groups(np.random.default_rng(1), 0.003), 1) == pytest.approx(0.003, rel=0.1)


def test_groups_may_lie_apart() -> None:
    """A shift between groups is no noise."""
    assert shamos([[100.0, 100.0], [300.0, 300.0]], 1) == 0.0


def test_slow_excursions_do_not_inflate() -> None:
    """One slow process in ten leaves the estimate within a third of the clean one."""
    groups = _groups(np.random.default_rng(2), 0.003)
    for group in groups[::2]:
        group[0] *= 1.1
    assert shamos(groups, 1) == pytest.approx(0.003, rel=0.34)


def test_too_few_pairs_are_unknown() -> None:
    """Below the least number of pairs there is no estimate."""
    assert shamos([[1.0, 2.0, 3.0]], 4) is None
    assert shamos([], 1) is None


@given(st.lists(st.floats(1, 100), min_size=2, max_size=6), st.floats(0.01, 100))
def test_scale_does_not_matter(group: list[float], factor: float) -> None:
    """Noise is relative: scaling all values leaves it."""
    scaled = shamos([[v * factor for v in group]], 1)
    assert scaled == pytest.approx(shamos([group], 1), abs=1e-9)
