"""What going to another release is said to gain or lose."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import pytest

from regress.model.verdict import Verdict
from regress.pipeline.cells import index
from regress.site.pages.upgrade import losing, upgrade_data
from regress.site.releases import Release
from regress.site.repeats import Repeats, count_repeats
from regress.site.subject import Subject
from tests.regress.builders import CASE, CONFIG, rounds_of
from tests.regress.site.trees import subject_of, write_part_of_recorded
from workloads import catalog


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    root: Path = tmp_path_factory.mktemp("rounds")
    write_part_of_recorded(root)
    return subject_of(root)


def _told(subject: Subject, tag: str) -> Any:
    return {path: value for path, _, value in upgrade_data(subject)}[f"data/upgrades/{tag}.js"]


def test_the_way_back_is_the_way_there_turned_round(subject: Subject) -> None:
    """Gains become losses, a family's ratio its inverse, and what was new is lost."""
    there, back = _told(subject, "v0.6.0")["v0.6.4"], _told(subject, "v0.6.4")["v0.6.0"]
    turned = {"REGRESSION": "IMPROVEMENT", "IMPROVEMENT": "REGRESSION", "NEW": "GONE"}
    assert sum(part["counts"].get("IMPROVEMENT", 0) for part in there.values()) > 0
    for family, part in there.items():
        counts = {turned.get(verdict, verdict): n for verdict, n in part["counts"].items()}
        assert counts == back[family]["counts"]
        if part["median"] is not None:
            assert back[family]["median"] == pytest.approx(1 / part["median"], rel=1e-3)


def test_a_family_has_the_median_and_the_gains_of_its_cells(subject: Subject) -> None:
    """The median is of every ratio; the time saved is of cells that are shown faster."""
    pair = subject.pairs["v0.6.0", "v0.6.4"]
    for family, part in _told(subject, "v0.6.0")["v0.6.4"].items():
        cells = [cell for case, cell in pair.cells.items() if subject.families[case] == family]
        ratios = [cell.ratio for cell in cells if cell.ratio]
        assert part["median"] == pytest.approx(median(ratios), rel=1e-3)
        gains = [1 - c.ratio for c in cells if c.verdict is Verdict.IMPROVEMENT and c.ratio]
        assert part["saved"] == pytest.approx(sum(gains), rel=1e-3)


def test_a_larger_tier_is_told_beside_the_even_cells(subject: Subject) -> None:
    """Cells that only some releases have make no sum larger, but what they lose is not hidden."""
    pair = subject.pairs["v0.6.1", "v0.6.3"]
    case = next(e.case for e in catalog.cases("nightly") if e.tier == "nightly")
    slower = replace(next(iter(pair.cells.values())), verdict=Verdict.REGRESSION)
    larger = replace(pair, tier="nightly", cells={**pair.cells, case: slower})
    changed = replace(
        subject,
        pairs={("v0.6.1", "v0.6.3"): larger},
        families={**subject.families, case: "made-up"},
    )
    told = _told(changed, "v0.6.1")["v0.6.3"]
    assert told["made-up"]["more"] == [1, 0]
    assert told["made-up"]["counts"] == {}
    before = _told(subject, "v0.6.1")["v0.6.3"]
    assert {family: told[family] for family in before} == before


def test_spread_is_a_loss_only_if_the_configuration_says_so(subject: Subject) -> None:
    """What makes a release worse is what makes `check` exit with 1."""
    assert {*losing(subject)} == {Verdict.BROKEN, Verdict.GONE, Verdict.REGRESSION}
    spread = msgspec.structs.replace(CONFIG.spread, fails=True)
    strict = msgspec.structs.replace(CONFIG, spread=spread)
    assert Verdict.VARIANCE in losing(replace(subject, config=strict))


@pytest.mark.parametrize(
    ("again", "repeats"),
    [(1.02, Repeats(1, 0)), (1.10, Repeats(1, 1)), (None, Repeats(0, 0))],
)
def test_a_release_is_compared_with_itself_in_another_campaign(
    again: float | None, repeats: Repeats
) -> None:
    """A shift between two campaigns of a release counts if it is beyond the margin across."""
    first: Sequence[float] = [100.0, 100.1, 99.9, 100.05, 99.95, 100.02]
    rounds = rounds_of("v1", {CASE: first})
    if again:
        rounds += rounds_of("v1", {CASE: [time * again for time in first]}, "c2")
    release = Release("v1", "2026-01-01", published=False, pins=(), rounds=rounds)
    told = count_repeats([release], {"v1": index(rounds)}, lambda _: {}, CONFIG)
    assert told == repeats
