"""Which round of a backfill comes next: what is missing, in which order, beside the reference."""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from packaging.version import InvalidVersion, Version

from benchmarks.measure.passes import PROTOCOL_VERSION
from benchmarks.rounds import is_quick
from benchmarks.stacks import Stack
from workloads.record import Case, Round, Status

__all__ = ["GROUP", "Wanted", "by_priority", "count_rounds", "next_group"]

GROUP: Final = 6
"""Stacks of one group; a round of the reference is in every group."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a backfill is to complete.

    Attributes
    ----------
    order
        Tags, the most urgent first.
    rounds
        Rounds that each of them is to have.
    reference
        Tag of the stack that every group measures too; it is never done.
    """

    order: tuple[str, ...]
    rounds: int
    reference: str


def by_priority(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags, given oldest first, in the order in which they say most about the history.

    Newest and oldest, then the last of each series (0.5, 0.6, ...) and the first of the next,
    between which most changes, then the middle of the widest gap, again and again. However early
    it ends, no stretch of the history is left out. Tags that are no version come last.
    """
    releases = [tag for tag in tags if _series(tag)]
    others = [tag for tag in reversed(tags) if not _series(tag)]
    places = [len(releases) - 1, 0] if releases else []
    for i, (before, after) in enumerate(pairwise(releases)):
        places += [i + 1, i] if _series(before) != _series(after) else []
    taken = dict.fromkeys(places)
    while len(taken) < len(releases):
        gaps = pairwise(sorted(taken))
        start, end = max(gaps, key=lambda gap: (gap[1] - gap[0], gap[1]))
        taken[(start + end) // 2] = None
    return (*(releases[place] for place in taken), *others)


def _series(tag: str) -> tuple[int, ...]:
    try:
        return Version(tag).release[:2]
    except InvalidVersion:
        return ()


def count_rounds(
    rounds: Iterable[Round], stacks: Mapping[str, Stack], cases: Collection[Case]
) -> Counter[str]:
    """Return how many rounds of each stack count as done.

    Those of the same pins and protocol that held every case, whatever became of it there, and
    measured at least one; none that only tried out whether everything runs.
    """
    asked = set(cases)
    return Counter(
        found.stack.tag
        for found in rounds
        if (stack := stacks.get(found.stack.tag)) is not None
        and found.stack.digest == stack.digest
        and found.protocol.version == PROTOCOL_VERSION
        and asked <= {record.case for record in found.cases}
        and any(record.status is Status.MEASURED for record in found.cases)
        and not is_quick(found)
    )


def next_group(
    wanted: Wanted, done: Counter[str], lost: Collection[str], capacity: int, draws: random.Random
) -> tuple[str, ...]:
    """Return the tags of the next group, in the order to measure them; none when all is done.

    Parameters
    ----------
    done
        Rounds that each tag has.
    lost
        Tags that cannot be measured here.
    capacity
        Rounds that the budget still holds. Only as many tags are taken up as it can complete, the
        most urgent ones; among these those with the fewest rounds come first.
    draws
        Decides among equals, and the order in the group.
    """
    missing = {
        tag: wanted.rounds - done[tag]
        for tag in wanted.order
        if done[tag] < wanted.rounds and tag not in lost and tag != wanted.reference
    }
    chosen: list[str] = []
    sum_rounds = 0
    for tag, count in missing.items():
        if chosen and sum_rounds + count > capacity * GROUP // (GROUP + 1):
            break
        chosen.append(tag)
        sum_rounds += count
    draws.shuffle(chosen)
    chosen.sort(key=lambda tag: done[tag])  # Stable: equals stay shuffled.
    group = chosen[:GROUP]
    if not group and done[wanted.reference] >= wanted.rounds:
        return ()
    group += [] if wanted.reference in lost else [wanted.reference]
    draws.shuffle(group)
    return tuple(group)
