"""A rule of the doctor, and what it found."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.doctor.snapshot import Host

__all__ = ["Finding", "Rule", "Severity"]


class Severity(StrEnum):
    """ERROR: results would be worthless, or there would be none. WARNING: know this of them."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that a host must, or should, have.

    Attributes
    ----------
    code
        Identity, in lower case.
    severity
        Of all its findings.
    title
        What is wrong if it finds something, in a few words.
    why
        What that does to results.
    remedy
        What to do.
    check
        Says what is wrong with a host, nothing if all is well. It does no I/O.
    """

    code: str
    severity: Severity
    title: str
    why: str
    remedy: str
    check: Callable[[Host], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found on a host; `message` names the host's own figures."""

    code: str
    severity: Severity
    title: str
    message: str
    remedy: str
