"""Waivers: what an owner accepts for a while, and what became of each one in a comparison."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final

import msgspec

from regress.model.verdict import Verdict

__all__ = [
    "WAIVABLE",
    "WAIVER_STATES",
    "StateText",
    "Waiver",
    "WaiverState",
    "WaiverUse",
    "Waivers",
]

WAIVABLE: Final = (Verdict.REGRESSION, Verdict.BROKEN, Verdict.GONE, Verdict.VARIANCE)
"""Shown to be worse, so that somebody can accept it. Nobody can accept what was not shown."""


class Waiver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change for the worse that its owner accepts.

    Attributes
    ----------
    cells
        Regular expression searched for in `workload@backend`.
    since
        The first stack that is worse. Comparisons from before it to it or a later one are covered.
    reason, owner
        Why, and who answers for it.
    expires
        The last day on which it holds, UTC.
    until
        The first stack that should be good again; None if none is known.
    verdicts
        What is accepted.
    up_to
        Largest ratio that is accepted; None for any.
    """

    cells: str
    since: str
    reason: str
    owner: str
    expires: date
    until: str | None = None
    verdicts: tuple[Verdict, ...] = (Verdict.REGRESSION,)
    up_to: float | None = None


@dataclass(frozen=True, slots=True)
class Waivers:
    """The waivers of a file, and the day for which they are asked.

    Attributes
    ----------
    source
        Name of the file.
    today
        Decides which ones are expired.
    """

    source: str
    entries: tuple[Waiver, ...]
    today: date


class WaiverState(StrEnum):
    """What became of a waiver in one comparison; scripts may match on it."""

    APPLIED = "applied"
    ELSEWHERE = "elsewhere"
    EXCEEDED = "exceeded"
    EXPIRED = "expired"
    UNMATCHED = "unmatched"
    TOO_BROAD = "too-broad"
    UNKNOWN_STACK = "unknown-stack"


@dataclass(frozen=True, slots=True)
class StateText:
    """What a state means; the table in the documentation is made of these.

    Attributes
    ----------
    finding
        Whether somebody should do something about the waiver.
    meaning, remedy
        One sentence each.
    """

    finding: bool
    meaning: str
    remedy: str


WAIVER_STATES: Final = {
    WaiverState.APPLIED: StateText(
        finding=False, meaning="Every finding that it fits is waived.", remedy="Nothing."
    ),
    WaiverState.ELSEWHERE: StateText(
        finding=False,
        meaning="This comparison does not cross its stacks, or does not judge its cells.",
        remedy="Nothing.",
    ),
    WaiverState.EXCEEDED: StateText(
        finding=True,
        meaning="It fits a finding whose ratio is above `up_to`: that one counts.",
        remedy="Find out what made it worse still; raise `up_to` only if that is accepted too.",
    ),
    WaiverState.EXPIRED: StateText(
        finding=True,
        meaning="Its last day is over, so it does not apply.",
        remedy="Remove it, or decide anew and move `expires`.",
    ),
    WaiverState.UNMATCHED: StateText(
        finding=True,
        meaning="The comparison crosses its stacks, and there is nothing to waive.",
        remedy="Remove it if the cells are good again; otherwise correct `cells` or `verdicts`.",
    ),
    WaiverState.TOO_BROAD: StateText(
        finding=True,
        meaning="Its pattern fits more cells than `waivers.most_share` allows: it does not apply.",
        remedy="Name the cells more closely, in several waivers if need be.",
    ),
    WaiverState.UNKNOWN_STACK: StateText(
        finding=True,
        meaning="`since` or `until` is no published stack and has no rounds: it cannot apply.",
        remedy="Correct the tag, or remove the waiver of an ad-hoc stack that is no more.",
    ),
}


class WaiverUse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A waiver and what became of it.

    Attributes
    ----------
    number
        Its place in the file, from 1; a waived finding gives it.
    note
        The state as a sentence with this comparison's figures.
    waived
        How many findings it waives.
    """

    number: int
    waiver: Waiver
    state: WaiverState
    note: str
    waived: int
