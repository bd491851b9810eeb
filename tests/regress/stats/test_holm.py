"""Holm's adjustment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress.stats.holm import holm

p_values = st.lists(st.floats(0, 1), max_size=12)


def test_example_by_hand() -> None:
    """The smallest of three is tripled, the next doubled, and none falls below the one before."""
    assert holm([0.04, 0.01, 0.03]) == pytest.approx((0.06, 0.03, 0.06))


@given(p_values)
def test_order_is_kept_and_none_gets_smaller(found: list[float]) -> None:
    """Adjusting keeps the order of the hypotheses and never makes one easier to reject."""
    adjusted = holm(found)
    assert all(a >= p for a, p in zip(adjusted, found, strict=True))
    order = sorted(range(len(found)), key=found.__getitem__)
    assert [adjusted[i] for i in order] == sorted(adjusted)


@given(p_values, st.floats(0, 1))
def test_another_hypothesis_never_helps(found: list[float], other: float) -> None:
    """Testing more makes each single hypothesis harder to reject."""
    with_other = holm([*found, other])[:-1]
    assert all(a >= b for a, b in zip(with_other, holm(found), strict=True))
