"""Runs of `ab`: rounds that were planned together, stage by stage, and what is missing of them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from workloads import catalog
from workloads.record import Case, Round
from workloads.stage import BACKFILL

__all__ = [
    "CONFIRM",
    "FIRST",
    "SCREEN",
    "Run",
    "Stage",
    "find_runs",
    "is_whole",
    "looked_again",
    "measures_all",
]

SCREEN: Final = "screen-"
"""What the names of the screening's stages begin with; a number follows."""
FIRST: Final = f"{SCREEN}1"
"""The stage that measures every case."""
CONFIRM: Final = "confirm"
PLANNED: Final = "rounds"
"""The only stage of rounds that were merely planned together."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Blocks over the same cases; a block is one round of base and one of head.

    Attributes
    ----------
    blocks
        How many were planned.
    whole
        The blocks that have both rounds, by number. Both are of one campaign: a block that was
        broken off and measured again has its partners there.
    every
        All rounds, those without a partner too.
    cases
        Every case that some round holds: all rounds should hold it.
    """

    name: str
    blocks: int
    whole: Mapping[int, tuple[Round, Round]]
    every: tuple[Round, ...]
    cases: frozenset[Case]

    @property
    def missing(self) -> tuple[int, ...]:
        """Numbers of the planned blocks that are not whole."""
        return tuple(n for n in range(1, self.blocks + 1) if n not in self.whole)

    @property
    def leftovers(self) -> tuple[str, ...]:
        """Ids of the rounds that count for no block."""
        used = {r.id for pair in self.whole.values() for r in pair}
        return tuple(r.id for r in self.every if r.id not in used)


@dataclass(frozen=True, slots=True)
class Run:
    """All rounds of one run of two stacks.

    Attributes
    ----------
    stages
        By name, in the order in which they were begun.
    """

    id: str
    base: str
    head: str
    stages: Mapping[str, Stage]

    @property
    def rounds(self) -> tuple[Round, ...]:
        """All rounds, in order of their start."""
        every = (r for stage in self.stages.values() for r in stage.every)
        return tuple(sorted(every, key=lambda r: (r.started_at, r.id)))

    def side(self, tag: str) -> tuple[Round, ...]:
        """Return the rounds of one stack, in order of their start."""
        return tuple(r for r in self.rounds if r.stack.tag == tag)

    def lacking(self, tag: str) -> dict[Case, tuple[str, ...]]:
        """Return the ids of a stack's rounds that lack a case which they should hold.

        A round holds what the others of its stage hold, and every case of its tier.
        """
        found: dict[Case, list[str]] = defaultdict(list)
        for stage in self.stages.values():
            for r in stage.every:
                if r.stack.tag == tag:
                    held = {record.case for record in r.cases}
                    for case in (stage.cases | _tier(r.tier)) - held:
                        found[case].append(r.id)
        return {case: tuple(ids) for case, ids in found.items()}

    @property
    def campaigns(self) -> tuple[str, ...]:
        """The stretches of measuring it took."""
        return tuple(dict.fromkeys(r.campaign for r in self.rounds))


def _tier(name: str) -> frozenset[Case]:
    """Return the cases of a tier; hand-picked ones have none to be held to."""
    known = name in catalog.TIERS
    return frozenset(entry.case for entry in catalog.cases(name)) if known else frozenset()


def find_runs(rounds: Iterable[Round], base: str, head: str) -> tuple[Run, ...]:
    """Return the runs of `ab` that compare base with head, in order of their start.

    Rounds that were merely planned together are no such run: their one stage has another name.
    """
    grouped: dict[str, dict[str, list[Round]]] = defaultdict(lambda: defaultdict(list))
    for r in sorted(rounds, key=lambda r: (r.started_at, r.id)):
        if r.design and r.design.stacks == (base, head) and _is_of_ab(r.design.stage):
            grouped[r.design.run][r.design.stage].append(r)
    return tuple(
        Run(run, base, head, {name: _stage(name, found, base) for name, found in stages.items()})
        for run, stages in grouped.items()
    )


def is_whole(found: Round) -> bool:
    """Whether a round measured what it did whatever was seen before.

    Later stages, of `ab` and of a bisection, hold cases that were chosen by what was seen.
    """
    return found.design is None or measures_all(found.design.stage)


def measures_all(stage: str) -> bool:
    """Whether rounds of this stage hold what was chosen before any was measured."""
    return stage in {"", PLANNED, FIRST} or stage.startswith(BACKFILL)


def looked_again(found: Round) -> bool:
    """Whether a round holds only what looked odd to `ab`, so that its times are chosen."""
    stage = found.design.stage if found.design else ""
    return _is_of_ab(stage) and stage != FIRST


def _is_of_ab(stage: str) -> bool:
    return stage == CONFIRM or stage.startswith(SCREEN)


def _stage(name: str, rounds: Sequence[Round], base: str) -> Stage:
    """Pair the rounds; of a block that is whole twice the earlier one counts."""
    sides: dict[tuple[int, str], dict[bool, Round]] = defaultdict(dict)
    planned: Counter[int] = Counter()
    for r in rounds:
        if r.design:
            planned[r.design.blocks] += 1
            sides[r.design.block, r.campaign].setdefault(r.stack.tag == base, r)
    whole: dict[int, tuple[Round, Round]] = {}
    for (block, _), pair in sides.items():
        if len(pair) == 2:  # noqa: PLR2004 - base and head
            whole.setdefault(block, (pair[True], pair[False]))
    cases = frozenset(record.case for r in rounds for record in r.cases)
    return Stage(name, max(planned), dict(sorted(whole.items())), tuple(rounds), cases)
