"""What a nightly run must tell people: three signals that are never taken for one another."""

from enum import StrEnum
from typing import Final

import msgspec

from regress.errors import ExitCode

__all__ = ["EXIT_CODES", "Alert", "Assessment", "Cleared", "Memory", "Signal", "State"]


class Signal(StrEnum):
    """What sort of alert it is."""

    JOB_FAILED = "job-failed"
    """A job or a step ended badly: nothing is known of what it would have said."""
    DATA_MISSING = "data-missing"
    """A machine has no new rounds: nothing is known of what they would have shown."""
    REGRESSION = "regression"
    """Rounds show that something got worse: a release, or the host."""


EXIT_CODES: Final = {
    Signal.JOB_FAILED: ExitCode.USAGE,
    Signal.DATA_MISSING: ExitCode.NO_DATA,
    Signal.REGRESSION: ExitCode.REGRESSION,
}
"""What the shell sees of each; of several `regress.errors.worst` says which one."""


class Alert(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that somebody has to look at: one issue.

    Attributes
    ----------
    key
        Stable for the same thing, night after night.
    title
        What and how much; since when is added from what was known before.
    verdict
        What is wrong, in a sentence.
    evidence
        What shows it, one line each, the most important first.
    reproduce
        Command that shows the same; empty if there is none.
    stacks
        Tags of the stacks that it speaks of.
    page
        Page of the site that shows it, relative to its root; empty for its front.
    """

    signal: Signal
    key: str
    title: str
    verdict: str
    evidence: tuple[str, ...] = ()
    reproduce: str = ""
    stacks: tuple[str, ...] = ()
    page: str = ""


class Cleared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Proof that something is well: only that ever closes an issue.

    Attributes
    ----------
    key
        Of the alert; one that ends in `:` means every key that starts so.
    told
        What shows it, in a sentence.
    stacks
        If not empty, only alerts that speak of no other stacks are meant.
    but
        Keys that are not meant, although they start so.
    """

    key: str
    told: str
    stacks: tuple[str, ...] = ()
    but: tuple[str, ...] = ()

    def covers(self, key: str, stacks: tuple[str, ...]) -> bool:
        """Whether it is about an alert of this key and these stacks."""
        fits = key.startswith(self.key) if self.key.endswith(":") else key == self.key
        return fits and key not in self.but and (not self.stacks or {*stacks} <= {*self.stacks})


class Assessment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a night showed; what stands in neither part is not known."""

    alerts: tuple[Alert, ...] = ()
    cleared: tuple[Cleared, ...] = ()

    def __add__(self, other: "Assessment") -> "Assessment":
        return Assessment(self.alerts + other.alerts, self.cleared + other.cleared)


class State(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was known of an alert on one day; a second look on that day replaces it.

    Attributes
    ----------
    day
        ISO 8601, UTC.
    told
        In a sentence.
    run
        Address of the run that says so; empty for one by hand.
    """

    day: str
    told: str
    run: str = ""


class Memory(msgspec.Struct, frozen=True):
    """What an issue remembers from night to night, hidden in its text.

    Attributes
    ----------
    key, signal, stacks
        Of the alert.
    since
        When it was first seen, ISO 8601, UTC: a host is held against the time before.
    states
        Its history, oldest first.
    """

    key: str
    signal: Signal
    since: str
    stacks: tuple[str, ...] = ()
    states: tuple[State, ...] = ()
