"""The exact Mann-Whitney test, against scipy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from regress.stats.exact import critical, null_cdf, p_greater

sizes = st.integers(1, 9)


@given(sizes, sizes, st.randoms(use_true_random=False))
def test_p_value_is_scipys(n: int, m: int, random: object) -> None:
    """Without ties the p-value is that of scipy's exact method."""
    values = list(range(n + m))
    random.shuffle(values)  # type: ignore[attr-defined]
    high, low = np.array(values[:n], float), np.array(values[n:], float)
    theirs = mannwhitneyu(high, low, alternative="greater", method="exact").pvalue
    assert p_greater([(low, high)]) == pytest.approx(theirs, rel=1e-12)


def test_five_against_five_wholly_apart() -> None:
    """Complete separation of 5 v 5 has one chance in 252."""
    assert p_greater([(np.arange(5.0), np.arange(5.0) + 10)]) == pytest.approx(1 / 252)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.lists(st.integers(0, 3), min_size=1))
def test_ties_never_help(high: list[int], low: list[int]) -> None:
    """Breaking every tie in favour of the shift cannot make the p-value larger."""
    ours = p_greater([(np.array(low, float), np.array(high, float))])
    broken = p_greater([(np.array(low, float), np.array(high, float))], -0.5)
    assert broken <= ours


def test_only_ties_show_nothing() -> None:
    """Equal numbers on both sides have p = 1: no tie counts as a win."""
    assert p_greater([(np.ones(5), np.ones(5))]) == 1.0


@given(sizes, sizes)
def test_distribution_is_symmetric(n: int, m: int) -> None:
    """P(U <= u) + P(U <= nm - 1 - u) = 1."""
    cdf = null_cdf(((n, m),))
    assert cdf[:-1] + cdf[:-1][::-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("n", "m", "alpha", "expected"),
    [(5, 5, 0.05, 4), (6, 6, 0.05, 7), (5, 5, 0.005, 0), (3, 3, 0.05, 0), (2, 2, 0.05, None)],
)
def test_critical_values_of_published_tables(
    n: int, m: int, alpha: float, expected: int | None
) -> None:
    """Critical values are those of the printed tables of the Mann-Whitney test."""
    assert critical(((n, m),), alpha) == expected


def test_strata_are_compared_only_within() -> None:
    """Campaigns far apart do not hide a shift, as a test over all values together would."""
    strata = [(np.arange(3.0), np.arange(3.0) + 10), (np.arange(3.0) + 99, np.arange(3.0) + 109)]
    assert p_greater(strata) == pytest.approx(1 / 400)


@given(sizes, sizes, sizes, sizes)
def test_strata_multiply_their_arrangements(a: int, b: int, c: int, d: int) -> None:
    """The rarest outcome is as rare as the rarest of each stratum together."""
    both = null_cdf(((a, b), (c, d)))[0]
    assert both == pytest.approx(null_cdf(((a, b),))[0] * null_cdf(((c, d),))[0])
