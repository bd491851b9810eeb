"""Numbers with their noun."""

from regress.counted import counted


def test_only_one_is_singular() -> None:
    """None and several take the plural."""
    assert [counted(n, "cell") for n in (0, 1, 2)] == ["0 cells", "1 cell", "2 cells"]
