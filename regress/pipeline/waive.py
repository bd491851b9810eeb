"""Applying waivers to the findings of one comparison, and telling what became of each waiver."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from math import inf

import msgspec

from regress.counted import counted
from regress.model.finding import Finding
from regress.model.verdict import WORST_FIRST
from regress.model.waiver import WAIVABLE, Waiver, WaiverState, WaiverUse
from regress.store.stacks import PublishedStack
from workloads.record import Case

__all__ = ["Comparison", "waive"]

_Fate = tuple[WaiverState, str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What waivers must know of a comparison.

    Attributes
    ----------
    base, head
        Stack tags.
    today
        Decides which waivers are expired.
    judged
        The cases that are judged.
    scopes
        Sets of cases of which no pattern may fit too many: those of the tier, whatever --cells
        leaves of them, and the whole catalog's.
    most_share
        The share of a scope from which on a pattern fits too many.
    published
        The list of stacks, oldest first.
    tags
        Stacks that have rounds.
    """

    base: str
    head: str
    today: date
    judged: Collection[Case]
    scopes: tuple[Collection[Case], ...]
    most_share: float
    published: Sequence[PublishedStack]
    tags: Collection[str] = ()


def waive(
    findings: Sequence[Finding], waivers: Iterable[Waiver], comparison: Comparison
) -> tuple[tuple[Finding, ...], tuple[WaiverUse, ...]]:
    """Return the findings, those that are accepted no longer counting, and what waivers did.

    A finding is only waived if it counts and shows something worse: missing data and what is
    undecided stay as they are.
    """
    takers: dict[int, int] = {}
    uses = []
    for number, waiver in enumerate(waivers, 1):
        fate, taken = _judge(waiver, findings, comparison)
        uses.append(WaiverUse(number, waiver, *fate, waived=len(taken)))
        for index in taken:
            takers.setdefault(index, number)
    found = tuple(
        msgspec.structs.replace(f, gates=False, waived=takers[i]) if i in takers else f
        for i, f in enumerate(findings)
    )
    return found, tuple(uses)


def _judge(
    waiver: Waiver, findings: Sequence[Finding], comparison: Comparison
) -> tuple[_Fate, Sequence[int]]:
    """Return what becomes of a waiver, and the places of the findings that it takes."""
    unfit = (
        _expired(waiver, comparison)
        or _too_broad(waiver, comparison)
        or _misplaced(waiver, comparison)
    )
    if unfit:
        return unfit, ()
    fits = _matcher(waiver)
    red = {
        i: f
        for i, f in enumerate(findings)
        if f.gates and f.verdict in WAIVABLE and fits(f.series.case)
    }
    named = {i: f for i, f in red.items() if f.verdict in waiver.verdicts}
    limit = inf if waiver.up_to is None else waiver.up_to
    above = [_ratio(f) for f in named.values() if _ratio(f) > limit]
    taken = [i for i, f in named.items() if _ratio(f) <= limit]
    if above:
        told = f"{counted(len(above), 'finding')} above up_to {limit:g}, {max(above):.3f}x at most"
        return (WaiverState.EXCEEDED, f"{told}: not waived"), taken
    if taken:
        return (WaiverState.APPLIED, f"{counted(len(taken), 'finding')} waived"), taken
    return (WaiverState.UNMATCHED, _unmatched(red.values())), ()


def _matcher(waiver: Waiver) -> Callable[[Case], bool]:
    search = re.compile(waiver.cells).search
    return lambda case: search(str(case)) is not None


def _expired(waiver: Waiver, comparison: Comparison) -> _Fate | None:
    if comparison.today <= waiver.expires:
        return None
    return WaiverState.EXPIRED, f"its last day was {waiver.expires}: not applied"


def _too_broad(waiver: Waiver, comparison: Comparison) -> _Fate | None:
    if re.search(waiver.cells, ""):
        return WaiverState.TOO_BROAD, "the pattern fits whatever there is: not applied"
    fits, share = _matcher(waiver), comparison.most_share
    for cases in comparison.scopes:
        fitting = sum(map(fits, cases))
        # A pattern that fits one case is as narrow as can be, however few there are.
        if fitting > max(1, share * len(cases)):
            told = f"fits {fitting} of {len(cases)} cases, more than {share:.0%}"
            return WaiverState.TOO_BROAD, f"{told}: not applied"
    return None


def _misplaced(waiver: Waiver, comparison: Comparison) -> _Fate | None:
    """Return why the waiver says nothing of these stacks or cells, or None if it does."""
    known = {stack.tag for stack in comparison.published} | {*comparison.tags}
    for tag in filter(None, (waiver.since, waiver.until)):
        if tag not in known:
            return WaiverState.UNKNOWN_STACK, f"no stack {tag!r} is known: not applied"
    if not _crosses(waiver, comparison):
        return WaiverState.ELSEWHERE, "about other stacks"
    fits = _matcher(waiver)
    somewhere = any(fits(case) for cases in comparison.scopes for case in cases)
    if somewhere and not any(map(fits, comparison.judged)):
        return WaiverState.ELSEWHERE, "about cells that are not judged here"
    return None


def _crosses(waiver: Waiver, comparison: Comparison) -> bool:
    """Whether the way from base to head leads over `since` and ends before `until`.

    Stacks have an order only among those that pin the same libraries: a step of FA3 alone is no
    step of FlashInfer. An ad-hoc stack has no place in it and is covered by its name, as head.
    """
    places = {s.tag: (s.libraries, place) for place, s in enumerate(comparison.published)}
    since, base, head = (places.get(t) for t in (waiver.since, comparison.base, comparison.head))
    if since is None or head is None:
        return waiver.since == comparison.head
    until = (since[0], len(places)) if waiver.until is None else places.get(waiver.until)
    if base is None or until is None:
        return False
    alike = since[0] == base[0] == head[0] == until[0]
    return alike and base[1] < since[1] <= head[1] < until[1]


def _ratio(finding: Finding) -> float:
    """Return the ratio; without one, nothing is known to be within a limit."""
    return finding.measured.ratio.estimate if finding.measured else inf


def _unmatched(red: Iterable[Finding]) -> str:
    verdicts = {finding.verdict for finding in red}
    others = ", ".join(v for v in WORST_FIRST if v in verdicts)
    return f"fits only {others}, which it does not name" if others else "nothing to waive"
