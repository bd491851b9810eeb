"""Exact bounds of rates."""

import sys

import pytest

from regress.errors import UsageError
from regress.stats.rates import acceptable, lower_rate, require_scipy, upper_rate


def test_no_hit_is_bounded_as_by_hand() -> None:
    """(1 - p)^n = 0.05 at the bound; "rule of three" is its approximation."""
    assert upper_rate(0, 300, 0.95) == pytest.approx(1 - 0.05 ** (1 / 300))
    assert lower_rate(0, 300, 0.95) == 0.0
    assert upper_rate(0, 0, 0.95) == 1.0


def test_all_hits_mirror_none() -> None:
    """Hits and misses exchanged mirror the bounds."""
    assert upper_rate(50, 50, 0.95) == 1.0
    assert lower_rate(50, 50, 0.95) == pytest.approx(1 - upper_rate(0, 50, 0.95))


def test_bounds_of_a_table() -> None:
    """Two-sided 90 % interval of 3 of 10, from tables of Clopper and Pearson's."""
    assert lower_rate(3, 10, 0.95) == pytest.approx(0.0873, abs=5e-5)
    assert upper_rate(3, 10, 0.95) == pytest.approx(0.6066, abs=5e-5)


def test_acceptable_hits_are_rarely_exceeded() -> None:
    """At a rate of 1 % more than 40 of 3,000 happen less than once in twenty times."""
    assert acceptable(0.01, 3000, 0.95) == 39


def test_missing_scipy_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line says what to install."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(UsageError, match=r"needs scipy: pip install -e '.\[calibrate\]'"):
        require_scipy()
