"""Bisection over releases on a made-up machine."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from regress.errors import ExitCode, UsageError
from regress.model.bisection import Bisection
from regress.model.verdict import Verdict
from regress.pipeline.bisect.bisect import Range, Search, bisect_releases, range_of
from regress.pipeline.bisect.compare import rounds_that_decide
from regress.report.bisection_text import render_bisection_text
from regress.report.view import View
from regress.stats.exact import critical
from regress.store.sources import Sources
from regress.store.stacks import load_published
from tests.regress.builders import CASE, CONFIG, OTHER, lost, make_round, measured, write_rounds
from workloads.record import Design
from workloads.stage import StagePlan

TAGS = tuple(f"v{n}" for n in range(16))
ALONE = Range(TAGS, tuple((tag,) for tag in TAGS))


class OffError(Exception):
    """The machine was switched off."""


@dataclass
class Machine:
    """Measures what a plan asks for; a case in a stack takes `factor` times 100 us."""

    root: Path
    factor: Callable[[int], float]
    lacks: Callable[[str, int], bool] = lambda _tag, _block: False
    is_lost: Callable[[int], bool] = lambda _point: False
    rounds_left: int = 10_000
    plans: list[StagePlan] = field(default_factory=list)
    seed: int = 1

    def measure(self, plan: StagePlan) -> None:
        """Write the rounds of a plan."""
        self.plans.append(plan)
        rng = np.random.default_rng([self.seed, len(self.plans)])
        for block in plan.todo:
            for tag in plan.stacks:
                if self.rounds_left == 0:
                    raise OffError
                self.rounds_left -= 1
                self._write(plan, tag, block, rng)

    def _write(self, plan: StagePlan, tag: str, block: int, rng: np.random.Generator) -> None:
        point = TAGS.index(tag)
        records = [
            measured(case, 100.0 * (self.factor(point) if case == CASE else 1) * float(wiggle))
            for case, wiggle in zip(
                plan.cases, np.exp(rng.normal(0, 0.002, len(plan.cases))), strict=True
            )
        ]
        if self.is_lost(point) or self.lacks(tag, block):
            records[0] = lost(plan.cases[0])
        design = Design(plan.run, plan.stage, plan.stacks, block, plan.blocks, len(plan.cases))
        name = f"{tag}-{plan.campaign}-{plan.stage}-{block}"
        made = make_round(tag, block, records, plan.campaign, id=name, tier="custom", design=design)
        write_rounds(self.root, [made])


def _bisect(machine: Machine, within: Range = ALONE, *, anew: bool = False) -> Bisection:
    search = Search(machine.measure, machine.root, "run1", anew=anew)
    return bisect_releases(within, (CASE, OTHER), search, CONFIG, "command")


def _places(report: Bisection) -> list[tuple[str, str]]:
    return [(step.last_good, step.first_bad) for step in report.steps]


@pytest.mark.parametrize("point", [1, 7, 8, 15])
def test_one_step(tmp_path: Path, point: int) -> None:
    """It is found wherever it is, and only few stacks are measured."""
    report = _bisect(Machine(tmp_path, lambda n: 1.05 if n >= point else 1.0))
    assert _places(report) == [(TAGS[point - 1], TAGS[point])]
    assert report.steps[0].exact
    assert [(c.case, c.verdict) for c in report.steps[0].cases] == [(CASE, Verdict.REGRESSION)]
    assert len(report.measured) <= 6
    assert report.exit_code is ExitCode.REGRESSION


def test_several_steps(tmp_path: Path) -> None:
    """Nothing assumes that there is only one, nor that all go one way."""

    def factor(n: int) -> float:
        return 1.0 if n < 3 else 1.1 if n < 9 else 1.05 if n < 13 else 1.2

    report = _bisect(Machine(tmp_path, factor))
    assert _places(report) == [("v2", "v3"), ("v8", "v9"), ("v12", "v13")]
    verdicts = [step.cases[0].verdict for step in report.steps]
    assert verdicts == [Verdict.REGRESSION, Verdict.IMPROVEMENT, Verdict.REGRESSION]


def test_nothing_changed(tmp_path: Path) -> None:
    """Ends that do not differ are measured and nothing else."""
    machine = Machine(tmp_path, lambda _n: 1.0)
    report = _bisect(machine)
    assert (report.steps, report.exit_code) == ((), ExitCode.PASS)
    assert set(report.measured) == {"v0", "v15"}
    assert [(q.last_good, q.first_bad) for q in report.quiet] == [("v0", "v15")]


def test_a_case_that_is_lost(tmp_path: Path) -> None:
    """The release since which a case no longer runs is found the same way."""
    report = _bisect(Machine(tmp_path, lambda _n: 1.0, is_lost=lambda n: n >= 6))
    assert _places(report) == [("v5", "v6")]
    assert report.verdict is Verdict.GONE


@pytest.mark.parametrize(
    ("lacks", "missing"),
    [
        (lambda _tag, _block: True, ("v0", "v15")),
        (lambda tag, block: tag == "v15" and block == 1, ("v15",)),
    ],
    ids=["in every round", "in one round of an end"],
)
def test_a_case_without_times(
    tmp_path: Path, lacks: Callable[[str, int], bool], missing: tuple[str, ...]
) -> None:
    """A case that an end lacks times of is no pass: it is told which, where and why."""
    report = _bisect(Machine(tmp_path, lambda _n: 1.0, lacks))
    assert (report.verdict, report.exit_code) == (Verdict.NO_DATA, ExitCode.NO_DATA)
    assert [(one.case, one.stack) for one in report.unmeasured] == [(CASE, tag) for tag in missing]
    text = render_bisection_text(report, View())
    assert text.startswith("NO_DATA  v0 to v15: no step shown; 1 case not compared")
    for one in report.unmeasured:
        lost_in = f"in {one.rounds - one.measured} of {one.rounds} rounds of {one.stack}"
        assert f"NO_DATA not measured {lost_in}: {CASE}: boom" in text


def test_a_step_beside_a_case_without_times(tmp_path: Path) -> None:
    """A regression is worse than missing data, which is told all the same."""
    machine = Machine(tmp_path, lambda n: 1.1 if n >= 6 else 1.0, lacks=lambda _tag, _block: True)
    search = Search(machine.measure, machine.root, "run1")
    report = bisect_releases(ALONE, (OTHER, CASE), search, CONFIG, "command")
    assert report.exit_code is ExitCode.REGRESSION
    assert {one.case for one in report.unmeasured} == {OTHER}


def test_identical_sources_count_as_one(tmp_path: Path) -> None:
    """Of releases with the same sources one is measured, and the step lies between such groups."""
    within = Range(TAGS, (TAGS[:6], TAGS[6:11], TAGS[11:15], TAGS[15:]))
    machine = Machine(tmp_path, lambda n: 1.05 if n >= 11 else 1.0)
    report = _bisect(machine, within)
    assert _places(report) == [("v10", "v11")]
    assert set(report.measured) <= {"v0", "v6", "v11", "v15"}


def test_it_goes_on_after_a_break(tmp_path: Path) -> None:
    """What was measured before is not measured again, and the result is the same."""
    machine = Machine(tmp_path, lambda n: 1.05 if n >= 6 else 1.0, rounds_left=25)
    with pytest.raises(OffError):
        _bisect(machine)
    machine.rounds_left = 10_000
    report = _bisect(machine)
    assert _places(report) == [("v5", "v6")]
    assert report.run == "run1"
    rounds, stages = sum(report.measured.values()), {plan.stage for plan in machine.plans}
    assert rounds <= 3 * machine.plans[0].blocks * len(stages)
    asked = len(machine.plans)
    assert _places(_bisect(machine)) == [("v5", "v6")]
    assert len(machine.plans) == asked


def test_begin_anew(tmp_path: Path) -> None:
    """With --new a bisection that is there is left as it is."""
    machine = Machine(tmp_path, lambda _n: 1.0)
    _bisect(machine)
    search = Search(machine.measure, tmp_path, "run2", anew=True)
    report = bisect_releases(ALONE, (CASE, OTHER), search, CONFIG, "command")
    assert report.run == "run2"
    assert len(machine.plans) == 2


def test_its_error_rate(tmp_path: Path) -> None:
    """Where nothing changed, hardly any bisection finds something."""
    wrong = 0
    for seed in range(60):
        root = tmp_path / str(seed)
        wrong += bool(_bisect(Machine(root, lambda _n: 1.0, seed=seed)).steps)
    assert wrong <= 2


def test_rounds_are_enough() -> None:
    """So many rounds show a step although two pairs are inverted, and one fewer do not."""
    number = rounds_that_decide(0.001)
    assert (critical(((number, number),), 0.001) or 0) >= 2
    assert (critical(((number - 1, number - 1),), 0.001) or 0) < 2


def test_the_range() -> None:
    """Releases of the list from one to the other; those with unchanged sources go together."""
    within = range_of("v0.6.7.post1", "v0.6.8")
    assert within.stacks == ("v0.6.7.post1", "v0.6.7.post2", "v0.6.7.post3", "v0.6.8")
    assert within.groups == (("v0.6.7.post1",), ("v0.6.7.post2", "v0.6.7.post3"), ("v0.6.8",))
    unknown = range_of("v0.6.7.post1", "v0.6.8", load_published(), Sources())
    assert [len(group) for group in unknown.groups] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("good", "bad", "told"),
    [
        ("v0.6.1", "v0.6.1", "no later release"),
        ("v0.6.4", "v0.6.1", "no later release"),
        ("v0.6.1", "fa3-fwd-0.0.3", "no later release"),
        ("v9", "v0.6.1", "not in the list"),
    ],
)
def test_wrong_ranges(good: str, bad: str, told: str) -> None:
    """Wrong ends are one line."""
    with pytest.raises(UsageError, match=told):
        range_of(good, bad)
