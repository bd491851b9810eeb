"""Exit codes, and the errors that end a command with one line."""

from collections.abc import Iterable
from enum import IntEnum
from typing import ClassVar, Final

__all__ = ["ExitCode", "NoDataError", "RegressError", "UsageError", "worst"]


class ExitCode(IntEnum):
    """What the shell sees; `worst` says which one wins."""

    PASS = 0
    REGRESSION = 1
    USAGE = 2
    UNDECIDED = 3
    NO_DATA = 4


_WORST_FIRST: Final = (
    ExitCode.USAGE,
    ExitCode.REGRESSION,
    ExitCode.NO_DATA,
    ExitCode.UNDECIDED,
    ExitCode.PASS,
)


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """Return the code that wins: 2 beats 1 beats 4 beats 3 beats 0; of none, `PASS`."""
    return min(codes, key=_WORST_FIRST.index, default=ExitCode.PASS)


class RegressError(Exception):
    """Ends a command; the message is one line that says what is wrong and what to do."""

    exit_code: ClassVar[ExitCode]


class UsageError(RegressError):
    """The request, the configuration or a round file is wrong."""

    exit_code = ExitCode.USAGE


class NoDataError(RegressError):
    """The request is right, but nothing was measured for it."""

    exit_code = ExitCode.NO_DATA
