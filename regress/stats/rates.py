"""How often something happened, with exact bounds; needs scipy."""

from typing import Final

from regress.errors import UsageError

__all__ = ["NEEDED", "acceptable", "lower_rate", "require_scipy", "upper_rate"]

NEEDED: Final = "pip install -e '.[calibrate]'"
"""How to get what most of this needs."""


def require_scipy() -> None:
    """Make sure that scipy is there.

    Raises
    ------
    UsageError
        If it is not installed.
    """
    try:
        import scipy  # noqa: F401
    except ImportError as error:
        msg = f"calibrate needs scipy: {NEEDED}"
        raise UsageError(msg) from error


def upper_rate(hits: int, trials: int, confidence: float) -> float:
    """One-sided upper bound of a probability (Clopper and Pearson 1934); 1 without trials.

    Without a hit it has a closed form, and scipy is not needed.
    """
    if hits >= trials:
        return 1.0
    if hits == 0:
        return 1.0 - float((1 - confidence) ** (1 / trials))
    from scipy.stats import beta

    return float(beta.ppf(confidence, hits + 1, trials - hits))


def lower_rate(hits: int, trials: int, confidence: float) -> float:
    """One-sided lower bound of a probability (Clopper and Pearson 1934)."""
    from scipy.stats import beta

    return 0.0 if hits == 0 else float(beta.ppf(1 - confidence, hits, trials - hits + 1))


def acceptable(rate: float, trials: int, confidence: float) -> int:
    """Return how many hits a true rate exceeds with probability at most 1 - `confidence`."""
    from scipy.stats import binom

    return int(binom.ppf(confidence, trials, rate))
