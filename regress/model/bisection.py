"""The result of `bisect`: between which releases some cases changed."""

from typing import Final

import msgspec

from regress.errors import ExitCode
from regress.model.cause import ChangedFile
from regress.model.finding import Change, Ratio
from regress.model.verdict import Verdict
from workloads.record import Case

__all__ = ["BISECTION_SCHEMA", "Between", "Bisection", "CaseChange", "Unmeasured"]

BISECTION_SCHEMA: Final = 1


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class CaseChange(_Part, frozen=True):
    """One case that differs between two stacks.

    Attributes
    ----------
    verdict
        REGRESSION, IMPROVEMENT, GONE or NEW.
    ratio, p
        Later over earlier stack, and the exact one-sided p-value; null where one has no time.
    evidence
        What else differs between the rounds of the two.
    """

    case: Case
    verdict: Verdict
    ratio: Ratio | None
    p: float | None
    evidence: tuple[Change, ...] = ()


class Between(_Part, frozen=True):
    """Two stacks that were compared.

    Attributes
    ----------
    last_good, first_bad
        Tags; stacks between them have the very sources of one of them, or could not be told apart.
    exact
        Whether no other sources lie between.
    cases
        What differs; empty if nothing was shown.
    files
        Attention sources that differ; null if they are not kept.
    """

    last_good: str
    first_bad: str
    exact: bool
    cases: tuple[CaseChange, ...]
    files: tuple[ChangedFile, ...] | None


class Unmeasured(_Part, frozen=True):
    """A case of which nothing can be said: an end of the range lacks its times.

    Attributes
    ----------
    stack
        The end.
    measured, rounds
        Rounds with a time, and rounds in all.
    reason
        What a round without one says.
    """

    case: Case
    stack: str
    measured: int
    rounds: int
    reason: str


class Bisection(_Part, frozen=True):
    """Every step that was found in a range of releases.

    Attributes
    ----------
    stacks
        Releases in the range, in order of their time.
    measured
        Those that were measured, with the number of their rounds.
    steps
        Where something changed, in order.
    quiet
        Ranges of which the ends do not differ: steps that cancel each other out would hide there.
    unmeasured
        What no step is known of because a time is missing: never a pass.
    alpha
        Of bisections in which nothing got slower, at most this share calls anything slower.
    run
        Id of the bisection; its rounds carry it.
    """

    schema: int
    command: str
    machine: str
    run: str
    setup: dict[str, str | int | float]
    stacks: tuple[str, ...]
    measured: dict[str, int]
    steps: tuple[Between, ...]
    quiet: tuple[Between, ...]
    unmeasured: tuple[Unmeasured, ...]
    alpha: float
    verdict: Verdict
    exit_code: ExitCode
