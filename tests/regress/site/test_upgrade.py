"""What going to another release is said to gain or lose."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from regress.model.finding import Metric, Series
from regress.model.history_series import Point, SeriesHistory
from regress.model.verdict import WORST_FIRST, Verdict
from regress.pipeline.cells import index
from regress.site.pages.upgrade import losing, upgrade_data
from regress.site.releases import Release
from regress.site.repeats import Repeats, count_repeats
from regress.site.subject import Subject
from regress.site.twins import twins_of
from regress.site.words import kind_of_backend
from tests.regress.builders import CASE, CONFIG, rounds_of
from tests.regress.pipeline.alerts.histories import history
from tests.regress.site.trees import subject_of, write_part_of_recorded
from workloads import catalog
from workloads.backend import BACKENDS
from workloads.record import Case


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    root: Path = tmp_path_factory.mktemp("rounds")
    write_part_of_recorded(root)
    return subject_of(root)


def _told(subject: Subject, tag: str) -> Any:
    return {path: value for path, _, value in upgrade_data(subject)}[f"data/upgrades/{tag}.js"]


def _cells(told: Any) -> list[tuple[Verdict, float | None]]:
    letters = [letter for letter in told["letters"] if letter != "-"]
    ratios = [r for letter, r in zip(told["letters"], told["ratios"], strict=True) if letter != "-"]
    return list(zip((WORST_FIRST[int(letter)] for letter in letters), ratios, strict=True))


def test_the_way_back_is_the_way_there_turned_round(subject: Subject) -> None:
    """Gains become losses, ratios their inverse, and what was new is lost."""
    there, back = _told(subject, "v0.6.0")["v0.6.4"], _told(subject, "v0.6.4")["v0.6.0"]
    turned = {
        Verdict.REGRESSION: Verdict.IMPROVEMENT,
        Verdict.IMPROVEMENT: Verdict.REGRESSION,
        Verdict.NEW: Verdict.GONE,
    }
    cells = _cells(there)
    assert Verdict.IMPROVEMENT in dict(cells)
    assert [turned.get(verdict, verdict) for verdict, _ in cells] == [v for v, _ in _cells(back)]
    for (_, ratio), (_, inverse) in zip(cells, _cells(back), strict=True):
        assert inverse == (pytest.approx(1 / ratio, rel=1e-4) if ratio else None)


def test_a_larger_tier_is_told_beside_the_even_cells(subject: Subject) -> None:
    """Cells that only some releases have make no sum larger, but what they lose is not hidden."""
    pair = subject.pairs["v0.6.1", "v0.6.3"]
    case = next(e.case for e in catalog.cases("nightly") if e.tier == "nightly")
    slower = replace(next(iter(pair.cells.values())), verdict=Verdict.REGRESSION)
    larger = replace(pair, tier="nightly", cells={**pair.cells, case: slower})
    changed = replace(
        subject,
        pairs={**subject.pairs, ("v0.6.1", "v0.6.3"): larger},
        families={**subject.families, case: "made-up"},
    )
    told, before = (_told(s, "v0.6.1")["v0.6.3"] for s in (changed, subject))
    assert told["more"] == {Verdict.REGRESSION: [len(subject.families)]}
    assert before["more"] == {}
    assert _cells(told) == _cells(before)


@pytest.mark.parametrize(
    ("controls", "twins"),
    [
        (((True, True), (True, True)), {"a": ["b", "c"], "b": ["a", "c"], "c": ["a", "b"]}),
        (((True, True), (True, False)), {"a": ["b"], "b": ["a"]}),
        (((True, None), (True, True)), {"a": ["b", "c"], "b": ["a", "c"], "c": ["a", "b"]}),
        (((None, True), (None, False)), {}),
    ],
)
def test_twins_ran_identical_kernels_in_every_cell_that_both_have(
    controls: Sequence[tuple[bool | None, ...]], twins: Mapping[str, list[str]]
) -> None:
    """One other kernel parts two releases; a cell that one lacks says nothing; twins chain up."""
    gate = [entry.case for entry in catalog.cases("gate")]
    series = [_series(case, found) for case, found in zip(gate, controls, strict=False)]
    series.append(_series(next(e.case for e in catalog.cases("nightly") if e.tier != "gate"), ()))
    told = msgspec.structs.replace(history(releases=("a", "b", "c")), series=tuple(series))
    assert twins_of(told) == twins


def test_without_a_history_there_are_no_twins() -> None:
    """One release has none to be the twin of."""
    assert twins_of(None) == {}


def _series(case: Case, controls: Sequence[bool | None]) -> SeriesHistory:
    """Build a made-up series of releases a, b, c; None is a release that lacks the cell."""
    told = [True, *controls, *[False] * (2 - len(controls))]
    points = [
        Point(tag, None if same is None else 1.0, None, 3, control=bool(same) and tag != "a")
        for tag, same in zip("abc", told, strict=True)
    ]
    named = Series(case, Metric.KERNEL_TIME)
    return SeriesHistory(named, "made-up", 0.01, 0.01, None, tuple(points), None)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("flashinfer-decode-tc-fa2-serving", "fa2"),
        ("flashinfer-prefill-auto", "auto"),
        ("flashinfer-decode-cuda", "CUDA cores"),
        ("fa3-kvcache-pack-true-splits-2", "FlashAttention-3"),
        ("sdpa", "SDPA"),
        ("another", "another"),
    ],
)
def test_backends_are_called_what_users_call_them(name: str, kind: str) -> None:
    """FlashInfer's path in either mode, else the library."""
    assert kind_of_backend(name)[1] == kind


def test_every_backend_has_a_name_for_users() -> None:
    """A new path or library needs one."""
    named = [b.name for b in BACKENDS if kind_of_backend(b.name)[1] == b.name]
    assert named == ["scripted"]


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
