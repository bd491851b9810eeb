"""The noise of a cell."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress.stats.noise import pooled_sd


def _groups(rng: np.random.Generator, sigma: float, groups: int = 40) -> list[list[float]]:
    return [[100 * math.exp(rng.normal(0, sigma)) for _ in range(5)] for _ in range(groups)]


def test_finds_the_standard_deviation() -> None:
    """On normal data the estimate is the standard deviation."""
    assert pooled_sd(_groups(np.random.default_rng(1), 0.003), 1) == pytest.approx(0.003, rel=0.1)


def test_groups_may_lie_apart() -> None:
    """A shift between groups is no noise."""
    assert pooled_sd([[100.0, 100.0], [300.0, 300.0]], 1) == 0.0


def test_a_second_mode_counts() -> None:
    """A quarter of processes 3 % slower is noise of about 1.5 %, however quiet each is."""
    assert pooled_sd([[100.0, 100.0, 100.0, 103.0]] * 4, 1) == pytest.approx(0.0148, rel=0.01)


def test_too_few_rounds_are_unknown() -> None:
    """Below the least degrees of freedom there is no estimate."""
    assert pooled_sd([[1.0, 2.0, 3.0]], 3) is None
    assert pooled_sd([], 1) is None


@given(st.lists(st.floats(1, 100), min_size=2, max_size=6), st.floats(0.01, 100))
def test_scale_does_not_matter(group: list[float], factor: float) -> None:
    """Noise is relative: scaling all values leaves it."""
    scaled = pooled_sd([[v * factor for v in group]], 1)
    assert scaled == pytest.approx(pooled_sd([group], 1), abs=1e-9)
