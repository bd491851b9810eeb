"""Which rounds a history is made of: one line of releases, one set-up, joined campaigns."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from regress.errors import NoDataError, UsageError
from regress.pipeline.ab.runs import measures_all
from regress.store.columns import Columns, Head
from regress.store.setup import Setup
from regress.store.stacks import PublishedStack

__all__ = ["Chain", "choose_chain"]

_LEAST: Final = 2
"""A history needs something to compare."""


@dataclass(frozen=True, slots=True)
class Chain:
    """What is compared.

    Attributes
    ----------
    columns
        The rounds that count.
    tags
        Releases with rounds, in order of their time.
    released
        When each was uploaded, ISO 8601; empty where the list does not say.
    setup
        What all rounds share.
    reference
        The stack that shares a campaign with most others; of equals the one that most campaigns
        hold, then the one with most rounds.
    warnings
        What was left aside.
    """

    columns: Columns
    tags: tuple[str, ...]
    released: tuple[str, ...]
    setup: Setup
    reference: str
    warnings: tuple[str, ...]


def choose_chain(columns: Columns, published: Sequence[PublishedStack]) -> Chain:
    """Choose the line of releases with the most measured stacks, and its rounds.

    Stacks that pin the same libraries are releases of one line. Ad-hoc stacks have no time and
    are left aside, as are rounds of cases that were chosen by what was seen before.

    Raises
    ------
    NoDataError
        If fewer than two releases are left.
    """
    line = _line(columns, published)
    warnings = list(_elsewhere(columns, line))
    heads = columns.heads
    kept = [n for n, h in enumerate(heads) if h.tag in line and measures_all(h.stage)]
    key = _setup([heads[n] for n in kept])
    other = sum(heads[n].setup != key for n in kept)
    if other:
        warnings.append(f"{other} rounds under other set-ups are left aside")
    kept = [n for n in kept if heads[n].setup == key]
    joined = _joined([heads[n] for n in kept])
    apart = sorted({heads[n].campaign for n in kept} - joined)
    if apart:
        told = ", ".join(apart)
        warnings.append(f"campaigns that share no stack with the others are left aside: {told}")
    kept = [n for n in kept if heads[n].campaign in joined]
    measured = {heads[n].tag for n in kept}
    stacks = [stack for stack in published if stack.tag in measured and stack.tag in line]
    if len(stacks) < _LEAST:
        msg = "a history needs rounds of two releases of one library, measured together"
        raise NoDataError(msg)
    return Chain(
        columns.keep(kept),
        tuple(stack.tag for stack in stacks),
        tuple(stack.released for stack in stacks),
        key,
        _reference([heads[n] for n in kept]),
        tuple(warnings),
    )


def _line(columns: Columns, published: Sequence[PublishedStack]) -> frozenset[str]:
    measured = {head.tag for head in columns.heads}
    lines: dict[frozenset[str], set[str]] = defaultdict(set)
    for stack in published:
        lines[stack.libraries].add(stack.tag)
    if not published:
        msg = "there is no list of stacks (benchmarks/stacks.toml): nothing says which came first"
        raise UsageError(msg)
    best = max(lines, key=lambda libraries: len(lines[libraries] & measured))
    return frozenset(lines[best])


def _elsewhere(columns: Columns, line: Collection[str]) -> Iterable[str]:
    others = sorted({head.tag for head in columns.heads} - set(line))
    if others:
        yield f"stacks of no or another line of releases are left aside: {', '.join(others)}"


def _setup(heads: Sequence[Head]) -> Setup:
    """Return the set-up of the most rounds, of equals the latest."""
    if not heads:
        msg = "no rounds of any release that could be compared: measure a tier"
        raise NoDataError(msg)
    counts = Counter(head.setup for head in heads)
    latest = {head.setup: head.started_at for head in heads}
    return max(counts, key=lambda key: (counts[key], latest[key]))


def _joined(heads: Sequence[Head]) -> frozenset[str]:
    """Return the largest set of campaigns that a chain of shared stacks joins."""
    stacks: dict[str, set[str]] = defaultdict(set)
    rounds = Counter(head.campaign for head in heads)
    for head in heads:
        stacks[head.campaign].add(head.tag)
    groups: list[tuple[set[str], set[str]]] = []
    for campaign, tags in stacks.items():
        touching = [group for group in groups if group[1] & tags]
        groups = [group for group in groups if not group[1] & tags]
        names = {campaign}.union(*(names for names, _ in touching))
        groups.append((names, tags.union(*(held for _, held in touching))))
    best = max(groups, key=lambda group: sum(rounds[name] for name in group[0]))
    return frozenset(best[0])


def _reference(heads: Iterable[Head]) -> str:
    campaigns: dict[str, set[str]] = defaultdict(set)
    stacks: dict[str, set[str]] = defaultdict(set)
    rounds: Counter[str] = Counter()
    for head in heads:
        campaigns[head.tag].add(head.campaign)
        stacks[head.campaign].add(head.tag)
        rounds[head.tag] += 1

    def rank(tag: str) -> tuple[int, int, int]:
        beside = set[str]().union(*(stacks[campaign] for campaign in campaigns[tag]))
        return len(beside), len(campaigns[tag]), rounds[tag]

    return max(campaigns, key=rank)
