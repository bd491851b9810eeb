"""How a run of the gate ended, and what it was told by the job that measures."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import msgspec

from regress.errors import ExitCode
from regress.model.report import CheckReport

__all__ = ["ACCEPTED_BY", "Doctor", "DoctorFinding", "Ending", "Measured", "Settled"]

ACCEPTED_BY: Final = "WAIVED: accepted by"
"""How the line of an accepted verdict begins: it is no verdict itself."""


class Ending(StrEnum):
    """What there is to say."""

    JUDGED = "judged"
    """There is a report."""
    STOPPED = "stopped"
    """The measuring job refused, e.g. a version that no index has."""
    LOST = "lost"
    """The measuring job left no report that can be read: nothing was judged."""
    ACCEPTED = "accepted"
    """A maintainer accepts what this commit was found to make worse."""
    WAITING = "waiting"
    """A fork waits for a label."""
    REFUSED = "refused"
    """The pins cannot be believed."""
    NOT_GATED = "not-gated"
    """Pins changed that cannot be compared."""
    UNCHANGED = "unchanged"
    """No pin changed."""
    SET_ASIDE = "set-aside"
    """A draft, closed, or no longer the head: another run speaks, if any."""


class DoctorFinding(msgspec.Struct, frozen=True):
    """One thing that is wrong with the host; other fields of its JSON are not needed."""

    severity: str
    title: str
    message: str
    remedy: str


class Doctor(msgspec.Struct, frozen=True):
    """What `python -m benchmarks doctor` says of the host that measured."""

    fit: bool
    findings: tuple[DoctorFinding, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """What came back from the job that measures.

    Attributes
    ----------
    report
        What was judged; None if there is none.
    damage
        Why there is no report, for people.
    doctor
        What doctor said of the host; None if that did not come back.
    log
        The last lines that the job printed: untrusted.
    code
        What the job ended with; None if that did not come back.
    replayed
        Whether recorded rounds were judged in place of measuring.
    """

    report: CheckReport | None = None
    damage: str = "the report did not come back"
    doctor: Doctor | None = None
    log: tuple[str, ...] = field(default=())
    code: ExitCode | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """How it ended, and what the job that reports exits with."""

    ending: Ending
    code: ExitCode
