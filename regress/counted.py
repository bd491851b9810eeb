"""Numbers in words."""

from decimal import ROUND_CEILING, Context, Decimal
from typing import Final

__all__ = ["bounded", "counted", "ranged"]

_UP: Final = Context(prec=2, rounding=ROUND_CEILING)


def bounded(share: float) -> str:
    """Return an upper bound in percent with two digits that count, e.g. `0.25%` for 0.00245.

    It is rounded up: a bound that is rounded down claims more than was shown.
    """
    percent = _UP.create_decimal(Decimal(repr(float(share))) * 100)
    return f"{percent.normalize():f}%"


def counted(number: int, noun: str) -> str:
    """Return e.g. `1 round` or `2 rounds`, for nouns whose plural ends in s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def ranged(low: float, high: float) -> str:
    """Return two ratios as e.g. `1.02x to 1.05x`; one where both read the same."""
    ends = dict.fromkeys(f"{end:.3g}x" for end in (low, high))
    return " to ".join(ends)
