"""Numbers in words."""

__all__ = ["counted", "ranged"]


def counted(number: int, noun: str) -> str:
    """Return e.g. `1 round` or `2 rounds`, for nouns whose plural ends in s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def ranged(low: float, high: float) -> str:
    """Return two ratios as e.g. `1.02x to 1.05x`; one where both read the same."""
    ends = dict.fromkeys(f"{end:.3g}x" for end in (low, high))
    return " to ".join(ends)
