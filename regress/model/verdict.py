"""Verdicts, their order, and the exit code each one asks for."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from regress.errors import ExitCode

__all__ = ["EXIT_CODES", "WORST_FIRST", "Verdict", "exit_code_of", "join"]


class Verdict(StrEnum):
    """What is said of one series of a cell; WAIVED is said of cells and runs alone."""

    REGRESSION = "REGRESSION"
    """Shown slower, by more than the cell's margin."""
    IMPROVEMENT = "IMPROVEMENT"
    """Shown faster, by more than the cell's margin."""
    SAME = "SAME"
    """Shown equal, within the cell's floor."""
    UNDECIDED = "UNDECIDED"
    """Neither was shown."""
    BROKEN = "BROKEN"
    """The result is wrong, and was not before: a fast wrong kernel is no improvement."""
    VARIANCE = "VARIANCE"
    """Times became bimodal or noisier."""
    NEW = "NEW"
    """Has data now, had none."""
    GONE = "GONE"
    """Had data, has none or not always."""
    NO_DATA = "NO_DATA"
    """Should have been measured and was not even planned."""
    WAIVED = "WAIVED"
    """Shown worse, and the owner accepts it for now; what was shown is in the findings."""


WORST_FIRST: Final = (
    Verdict.BROKEN,
    Verdict.GONE,
    Verdict.REGRESSION,
    Verdict.VARIANCE,
    Verdict.NO_DATA,
    Verdict.UNDECIDED,
    Verdict.WAIVED,
    Verdict.IMPROVEMENT,
    Verdict.NEW,
    Verdict.SAME,
)
"""The order of `join`: a cell is called by the first of these among its findings."""

EXIT_CODES: Final = {
    Verdict.BROKEN: ExitCode.REGRESSION,
    Verdict.GONE: ExitCode.REGRESSION,
    Verdict.REGRESSION: ExitCode.REGRESSION,
    Verdict.VARIANCE: ExitCode.PASS,
    Verdict.NO_DATA: ExitCode.NO_DATA,
    Verdict.UNDECIDED: ExitCode.UNDECIDED,
    Verdict.WAIVED: ExitCode.PASS,
    Verdict.NEW: ExitCode.PASS,
    Verdict.IMPROVEMENT: ExitCode.PASS,
    Verdict.SAME: ExitCode.PASS,
}


def exit_code_of(verdict: Verdict, *, variance_fails: bool) -> ExitCode:
    """Return the exit code that a verdict asks for; VARIANCE fails only if configured."""
    if verdict is Verdict.VARIANCE and variance_fails:
        return ExitCode.REGRESSION
    return EXIT_CODES[verdict]


def join(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst verdict: associative, commutative, idempotent.

    Raises
    ------
    ValueError
        If there is none to join: nothing said is not the same as SAME.
    """
    return min(verdicts, key=WORST_FIRST.index)
