"""Bisection over releases: few are measured, and every step in the range is looked for."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Final

from regress.config import Config
from regress.errors import UsageError, worst
from regress.model.bisection import BISECTION_SCHEMA, Between, Bisection, CaseChange
from regress.model.verdict import EXIT_CODES, Verdict, join
from regress.pipeline.bisect.compare import compare, lacking, rounds_that_decide
from regress.pipeline.search import Search
from regress.store.rounds import load_machine
from regress.store.setup import differences, setup
from regress.store.sources import Sources, load_sources
from regress.store.stacks import PublishedStack, load_published
from regress.store.tree import scan
from workloads.record import Case, Round
from workloads.rehearsal import REHEARSAL
from workloads.stage import StagePlan

__all__ = ["SPLIT", "Range", "Search", "bisect_releases", "range_of"]

SPLIT: Final = "split-"
"""What the names of its stages begin with; a number follows."""


@dataclass(frozen=True, slots=True)
class Range:
    """The releases that are looked at.

    Attributes
    ----------
    stacks
        Tags from good to bad, in order of their time.
    groups
        The same, those with identical attention sources together: one of each is measured.
    """

    stacks: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]

    @property
    def comparisons(self) -> int:
        """How many pairs are compared at most."""
        return max(1, 2 * len(self.groups) - 3)


def range_of(
    good: str,
    bad: str,
    published: Sequence[PublishedStack] | None = None,
    sources: Sources | None = None,
) -> Range:
    """Return the releases from one to the other.

    Raises
    ------
    UsageError
        If they are no two releases of one line, or in the wrong order.
    """
    stacks = load_published() if published is None else published
    known = {stack.tag: stack for stack in stacks}
    for tag in (good, bad):
        if tag not in known:
            msg = f"{tag} is not in the list of stacks: `python -m benchmarks stacks list`"
            raise UsageError(msg)
    line = [stack.tag for stack in stacks if stack.libraries == known[good].libraries]
    if bad not in line or line.index(bad) <= line.index(good):
        msg = f"{bad} is no later release than {good}: give the older one first"
        raise UsageError(msg)
    tags = tuple(line[line.index(good) : line.index(bad) + 1])
    kept = load_sources() if sources is None else sources
    groups: list[list[str]] = [[good]]
    for before, tag in pairwise(tags):
        if kept.changed(before, tag) == () and tag != bad:
            groups[-1].append(tag)
        else:
            groups.append([tag])
    return Range(tags, tuple(map(tuple, groups)))


@dataclass
class _Walk:
    """A bisection on its way: stages are named by their order, which the rounds decide."""

    within: Range
    cases: tuple[Case, ...]
    search: Search
    config: Config
    run: str
    rounds: tuple[Round, ...]
    stages: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def alpha(self) -> float:
        """For one direction of one case in one comparison."""
        return self.config.ab.family_alpha / (self.within.comparisons * len(self.cases))

    def stage(self, groups: Sequence[int]) -> dict[str, list[Round]]:
        """Return the rounds of the next stage, measured now if they are not there yet."""
        name, tags = f"{SPLIT}{next(self.stages)}", tuple(self.tag(group) for group in groups)
        blocks = rounds_that_decide(self.alpha)
        todo = self._missing(name, tags, blocks)
        if todo:
            campaign = _stretch(self.run, self.rounds)
            self.search.measure(
                StagePlan(
                    run=self.run,
                    stage=name,
                    stacks=tags,
                    blocks=blocks,
                    todo=todo,
                    campaign=campaign,
                    tier="custom",
                    cases=self.cases,
                    directory=str(self.search.directory.resolve()),
                    machine=self.search.machine,
                )
            )
            self.rounds = _runs_of(self.search, self.within).get(self.run, ())
            if self._missing(name, tags, blocks):
                msg = f"{name} was measured and still lacks rounds in {self.search.directory}"
                raise UsageError(msg)
            _check_setup(self.rounds)
        return {tag: [r for r in self._of(name) if r.stack.tag == tag] for tag in tags}

    def tag(self, group: int) -> str:
        """Return the stack that stands for a group."""
        return self.within.groups[group][0]

    def _of(self, name: str) -> list[Round]:
        return [r for r in self.rounds if r.design and r.design.stage == name]

    def _missing(self, name: str, tags: Sequence[str], blocks: int) -> tuple[int, ...]:
        """Return the blocks of which a campaign does not hold every stack."""
        held: dict[tuple[str, int], set[str]] = defaultdict(set)
        for r in self._of(name):
            if r.design and r.design.stacks == tuple(tags):
                held[r.campaign, r.design.block].add(r.stack.tag)
        whole = {block for (_, block), stacks in held.items() if stacks == set(tags)}
        return tuple(n for n in range(1, blocks + 1) if n not in whole)

    def compare(
        self, rounds: dict[str, list[Round]], earlier: int, later: int
    ) -> tuple[CaseChange, ...]:
        """Return what differs between two groups of a stage."""
        pair = rounds[self.tag(earlier)], rounds[self.tag(later)]
        return tuple(compare(pair, self.cases, self.config, self.alpha))


def bisect_releases(
    within: Range, cases: tuple[Case, ...], search: Search, config: Config, command: str
) -> Bisection:
    """Measure the ends; wherever two stacks differ, measure one between them with both again.

    Both halves are looked at, so several steps are found; a half whose ends do not differ is left.
    A bisection of the same range and cases that was broken off goes on: its state is its rounds.

    Raises
    ------
    UsageError
        If measuring fails, or goes on with another set-up.
    """
    rounds = () if search.anew else _unfinished(search, within, cases)
    run = rounds[0].design.run if rounds and rounds[0].design else search.run
    walk = _Walk(within, cases, search, config, run, rounds)
    last = len(within.groups) - 1
    ends = walk.stage((0, last))
    differ = walk.compare(ends, 0, last)
    unmeasured = tuple(lacking((ends[walk.tag(0)], ends[walk.tag(last)]), cases, differ))
    told = list(_search(walk, 0, last, differ))
    sources = load_sources()
    betweens = [_between(walk, sources, *found) for found in told]
    steps = tuple(b for b in betweens if b.cases)
    verdicts = [change.verdict for step in steps for change in step.cases] or [Verdict.SAME]
    verdicts += [Verdict.NO_DATA for _ in unmeasured]
    return Bisection(
        schema=BISECTION_SCHEMA,
        command=command,
        machine=walk.rounds[0].machine.name,
        run=run,
        setup=dict(setup(walk.rounds[0])),
        stacks=within.stacks,
        measured=dict(Counter(r.stack.tag for r in walk.rounds)),
        steps=steps,
        quiet=tuple(b for b in betweens if not b.cases),
        unmeasured=unmeasured,
        alpha=config.ab.family_alpha,
        verdict=join(verdicts),
        exit_code=worst(EXIT_CODES[verdict] for verdict in verdicts),
    )


_Told = tuple[int, int, tuple[CaseChange, ...]]


def _search(walk: _Walk, first: int, last: int, differ: tuple[CaseChange, ...]) -> Iterator[_Told]:
    """Yield ranges in order: steps that cannot be narrowed down, and ranges without any."""
    if not differ or last - first == 1:
        yield first, last, differ
        return
    middle = (first + last) // 2
    rounds = walk.stage((first, middle, last))
    halves = walk.compare(rounds, first, middle), walk.compare(rounds, middle, last)
    if not any(halves):
        yield first, last, differ  # Two small steps, or one too small for half of the evidence.
        return
    yield from _search(walk, first, middle, halves[0])
    yield from _search(walk, middle, last, halves[1])


def _between(
    walk: _Walk, sources: Sources, first: int, last: int, cases: tuple[CaseChange, ...]
) -> Between:
    good, bad = walk.within.groups[first][-1], walk.within.groups[last][0]
    return Between(good, bad, last - first == 1, cases, sources.changed(good, bad))


def _unfinished(search: Search, within: Range, cases: tuple[Case, ...]) -> tuple[Round, ...]:
    """Return the rounds of the latest bisection of just this range and these cases."""
    ends = {within.stacks[0], within.stacks[-1]}
    fitting = [
        rounds
        for rounds in _runs_of(search, within).values()
        if {record.case for r in rounds for record in r.cases} == set(cases)
        and ends == {*(rounds[0].design.stacks if rounds[0].design else ())}
    ]
    return max(fitting, key=lambda rounds: rounds[0].started_at, default=())


def _stretch(run: str, rounds: Sequence[Round]) -> str:
    """Return a name for this stretch of measuring: the run's own while nothing was broken off."""
    used = {r.campaign for r in rounds}
    names = (f"{run}~{number}" for number in count(len(used) + 1))
    return next(name for name in names if name not in used) if used else run


def _check_setup(rounds: Sequence[Round]) -> None:
    if setup(rounds[-1]) != setup(rounds[0]):
        msg = (
            f"the bisection was begun with another set-up: {differences(rounds[0], rounds[-1])}; "
            "begin another with --new"
        )
        raise UsageError(msg)


def _runs_of(search: Search, within: Range) -> dict[str, tuple[Round, ...]]:
    """Return the rounds of every bisection over releases, by its id, in order of their start."""
    tree = scan((search.directory,))
    machines = {machine for machine, tag in tree.files if tag in within.stacks}
    machines = machines - {REHEARSAL} if search.machine is None else machines & {search.machine}
    runs: dict[str, list[Round]] = defaultdict(list)
    for machine in sorted(machines):
        for rounds in load_machine(tree, machine).rounds.values():
            for r in rounds:
                if r.design is not None and r.design.stage.startswith(SPLIT):
                    runs[r.design.run].append(r)
    ordered = {
        run: sorted(found, key=lambda r: (r.started_at, r.id)) for run, found in runs.items()
    }
    return {run: tuple(found) for run, found in ordered.items()}
