"""Numbers in words."""

from regress.counted import counted, ranged


def test_only_one_is_singular() -> None:
    """None and several take the plural."""
    assert [counted(n, "cell") for n in (0, 1, 2)] == ["0 cells", "1 cell", "2 cells"]


def test_a_range_of_one_value_is_that_value() -> None:
    """What reads the same is said once."""
    assert ranged(1.0801, 1.0804) == "1.08x"
    assert ranged(0.26, 13.95) == "0.26x to 13.9x"
