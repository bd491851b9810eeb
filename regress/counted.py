"""Numbers with their noun."""

__all__ = ["counted"]


def counted(number: int, noun: str) -> str:
    """Return e.g. `1 round` or `2 rounds`, for nouns whose plural ends in s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
