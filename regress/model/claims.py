"""What two articles say about decode attention, and what the recorded rounds say of it."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["ARTICLES", "ClaimResult", "Outcome"]

ARTICLES = {
    "A": "article A (load imbalance inside a decode batch)",
    "B": "article B (GQA batch tuning)",
}


class Outcome(StrEnum):
    """What is said of a claim."""

    HOLDS = "holds"
    PARTLY = "holds partly"
    FAILS = "does not hold"
    UNTESTED = "not tested"


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """One claim, judged.

    Attributes
    ----------
    code
        Article and number, e.g. `A4`.
    statement
        What the article says, in our words.
    numbers
        What the verdict rests on, or why nothing was tested.
    """

    code: str
    statement: str
    outcome: Outcome
    numbers: str
