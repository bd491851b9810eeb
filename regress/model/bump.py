"""What a pull request does to the pins of attention libraries, as the gate's jobs pass it on."""

import re
from enum import StrEnum
from typing import Final

import msgspec

__all__ = [
    "ACCEPT_LABEL",
    "BUMP_SCHEMA",
    "RUN_LABEL",
    "Bump",
    "BumpCode",
    "BumpReason",
    "Direction",
    "Given",
    "PinChange",
    "State",
]

BUMP_SCHEMA: Final = 1
RUN_LABEL: Final = "attention-gate-run"
"""Lets the pins of a fork be measured."""
ACCEPT_LABEL: Final = "attention-regression-accepted"
"""Accepts what a commit was found to make worse."""
_PIN: Final = re.compile(r"[a-z0-9-]+==[a-z0-9.+!]+")
_SHA: Final = re.compile(r"[0-9a-f]{40}")


class State(StrEnum):
    """What follows from a pull request."""

    UNCHANGED = "unchanged"
    """No pin of a measured library changed."""
    SKIPPED = "skipped"
    """Not measured now; the reason says why."""
    REFUSED = "refused"
    """The pins cannot be believed; the gate fails."""
    MEASURE = "measure"
    """Both sides are to be measured."""
    ACCEPTED = "accepted"
    """What this commit was found to make worse is accepted: nothing is measured again."""


class BumpCode(StrEnum):
    """Why a state was chosen."""

    UNCHANGED = "unchanged"
    CLOSED = "closed"
    DRAFT = "draft"
    SUPERSEDED = "superseded"
    NEEDS_LABEL = "needs-label"
    INEXACT = "inexact"
    ONE_SIDED = "one-sided"
    BAD_VERSION = "bad-version"
    CONFLICT = "conflict"
    UNREADABLE = "unreadable"
    CHANGED = "changed"
    ACCEPTED = "accepted"


class Direction(StrEnum):
    """How a pin moved."""

    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    ADDED = "added"
    REMOVED = "removed"


class BumpReason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why a state was chosen: a code for programs, a sentence for people."""

    code: BumpCode
    message: str


class PinChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One library's exact pin before and after; null on a side that has none."""

    library: str
    base: str | None
    head: str | None
    direction: Direction
    files: tuple[str, ...]


class Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A label that counts: who set it, with which role, when, and for which commit."""

    label: str
    login: str
    role: str
    at: str
    sha: str


class Bump(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a pull request does to pins, and what follows.

    Attributes
    ----------
    schema
        Counts incompatible changes of this layout.
    repository, pull
        `owner/name` and the number of the pull request.
    base_sha, head_sha
        Exact commits whose files were read: where the branches parted, and the head.
    changes
        Libraries whose exact pins differ.
    base_pins, head_pins
        `name==version` of libraries that both sides pin exactly, validated.
    accepted, authorised
        The label that accepts what got worse, and the one that lets a fork's pins be measured.
    notes
        What else should be said: ranges, labels that do not count. Untrusted text may be in it.

    Raises
    ------
    ValueError
        If a pin or a commit is anything else: they go to shells and to other jobs.
    """

    schema: int
    repository: str
    pull: int
    base_sha: str
    head_sha: str
    state: State
    reason: BumpReason
    changes: tuple[PinChange, ...] = ()
    base_pins: tuple[str, ...] = ()
    head_pins: tuple[str, ...] = ()
    accepted: Given | None = None
    authorised: Given | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        wrong = [pin for pin in (*self.base_pins, *self.head_pins) if not _PIN.fullmatch(pin)]
        wrong += [sha for sha in (self.base_sha, self.head_sha) if not _SHA.fullmatch(sha)]
        if wrong:
            msg = f"no pin or commit: {wrong[0]!r}"
            raise ValueError(msg)
