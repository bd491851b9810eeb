"""Numbers in words."""

import pytest

from regress.counted import bounded, counted, ranged


def test_only_one_is_singular() -> None:
    """None and several take the plural."""
    assert [counted(n, "cell") for n in (0, 1, 2)] == ["0 cells", "1 cell", "2 cells"]


def test_a_range_of_one_value_is_that_value() -> None:
    """What reads the same is said once."""
    assert ranged(1.0801, 1.0804) == "1.08x"
    assert ranged(0.26, 13.95) == "0.26x to 13.9x"


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (0.002448, "0.25%"),  # 0 of 1222: 1 - 0.05 ** (1 / 1222)
        (0.000749, "0.075%"),  # 0 of 4000: 1 - 0.05 ** (1 / 4000)
        (0.0024001, "0.25%"),
        (0.05, "5%"),
        (0.07, "7%"),
        (0.995001, "100%"),
        (1.0, "100%"),
        (0.0, "0%"),
    ],
)
def test_a_bound_is_rounded_up(share: float, told: str) -> None:
    """What is printed is never below the bound, and what needs no rounding stays."""
    assert bounded(share) == told
