"""Releases that lost everything, or were not measured in everything: made-up rounds."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser

from regress.cli import main
from regress.model.verdict import Verdict
from regress.site.page import render
from regress.site.pages.overview import overview_pages
from tests.regress.builders import write_rounds
from tests.regress.pipeline.history.year import CASES, TAGS, Year, step_at
from tests.regress.site.trees import subject_of
from workloads.record import Case, Status

OLDEST, OURS, NEWEST = TAGS[:3]


def _lost(_case: Case, point: int) -> tuple[Status, str] | None:
    return (Status.FAILED, "boom") if point == TAGS.index(NEWEST) else None


def _write(root: Path, year: Year, absent: Callable[[Case, int], bool]) -> None:
    """Write the rounds without cases that are absent of a release."""
    rounds = []
    for r in year.rounds():
        point = TAGS.index(r.stack.tag)
        cases = tuple(record for record in r.cases if not absent(record.case, point))
        rounds.append(msgspec.structs.replace(r, cases=cases))
    write_rounds(root, rounds)


def _lacks(*held: Case) -> Callable[[Case, int], bool]:
    """Say that the newest release has only these cells."""
    return lambda case, point: TAGS[point] == NEWEST and case not in held


def _answer(browser: Browser, root: Path, tag: str) -> list[str]:
    """Return the answer, and what stands in the rows of all other releases."""
    folder = root / "site"
    assert main(["site", "--rounds", str(root), "--to", str(folder)]) == 0
    page = browser.new_page()
    page.goto(f"{folder.as_uri()}/upgrade.html#{tag}")
    page.wait_for_selector("#answer .answer")
    rows = page.locator("#choices tbody tr:not(:has(.group))").all_inner_texts()
    return [" ".join(text.split()) for text in (page.locator("#answer").inner_text(), *rows)]


def test_a_pair_without_any_time_is_judged(tmp_path: Path) -> None:
    """What lost every cell is GONE as `check` says; with times in neither there is no pair."""
    Year(tmp_path, campaigns={"c1": (range(3), 5)}, lost=_lost).write()
    pair = subject_of(tmp_path).pairs[OURS, NEWEST]
    assert pair.verdict is Verdict.GONE
    assert pair.counts == {Verdict.GONE: len(CASES)}
    assert {*pair.back.values()} == {Verdict.NEW}
    Year(tmp_path, campaigns={"c1": (range(3), 5)}, lost=lambda *_: (Status.FAILED, "")).write()
    assert subject_of(tmp_path).pairs == {}


def test_a_release_that_lost_every_cell_is_named(browser: Browser, tmp_path: Path) -> None:
    """The page does not call the one before it the newest; `compare` shows the pair too."""
    Year(tmp_path, campaigns={"c1": (range(3), 5)}, lost=_lost).write()
    answer, newest, _ = _answer(browser, tmp_path, OURS)
    assert f"no newer release is shown to be free of losses. {NEWEST} has the" in answer
    assert "6 cells lost or wrong; none is faster." in answer
    assert "GONE" in newest
    page = browser.new_page()
    page.goto(f"{(tmp_path / 'site').as_uri()}/compare.html#{OURS}...{NEWEST}")
    page.wait_for_selector("#comparison h2")
    assert "6 GONE" in page.locator("#comparison .counts").inner_text()


@pytest.mark.parametrize("first", [OLDEST, OURS])
def test_missing_data_is_never_a_pass(browser: Browser, tmp_path: Path, first: str) -> None:
    """Faster where it was measured is no reason to go there if most was not, also if no other
    release is there."""
    points = range(TAGS.index(first), 3)
    year = Year(tmp_path, factor=step_at(2, 0.9), campaigns={"c1": (points, 5)})
    _write(tmp_path, year, _lacks(CASES[0]))
    answer, newest, *_ = _answer(browser, tmp_path, OURS)
    assert f"{NEWEST} is shown slower nowhere, but is not measured in full; 1 is faster" in answer
    assert answer.endswith("5 of 6 cells have no data.")
    assert "∅ 5 ▼ 1" in newest


def test_what_ours_lacks_parts_no_releases(browser: Browser, tmp_path: Path) -> None:
    """Without data of our own nothing can be compared: the rest decides, and is said."""
    year = Year(tmp_path, factor=step_at(2, 0.9), campaigns={"c1": (range(3), 5)})
    _write(tmp_path, year, lambda case, point: TAGS[point] == OURS and case != CASES[0])
    answer, *_ = _answer(browser, tmp_path, OURS)
    assert f"go to {NEWEST}: none of 1 cell is shown slower or lost, 1 is faster" in answer
    assert answer.endswith("; 5 of 6 cells have no data.")


def test_releases_without_a_common_cell_are_not_compared(browser: Browser, tmp_path: Path) -> None:
    """There is a newer release, and the page says that nothing can be said of it."""
    year = Year(tmp_path, campaigns={"c1": (range(3), 5)})
    _write(tmp_path, year, lambda case, point: (case in CASES[3:]) == (TAGS[point] == NEWEST))
    answer, newest, _ = _answer(browser, tmp_path, OURS)
    assert answer.startswith(f"No newer release can be compared with {OURS}")
    assert "∅ NO_DATA" in newest


def test_rounds_of_hand_picked_cells_are_told_apart(tmp_path: Path) -> None:
    """The front page counts every round, and says which are of no tier."""
    year = Year(tmp_path, campaigns={"c1": (range(3), 5)})
    whole = [msgspec.structs.replace(r, tier="gate") for r in year.rounds()]
    write_rounds(tmp_path, [*whole[:-2], *year.rounds()[-2:]])
    (page,) = overview_pages(subject_of(tmp_path))
    shared = dict.fromkeys(("machine", "machine_line", "options", "source", "asv"), "-")
    html = render(page, shared | {"damaged": ""})
    assert "<dd>15<span> on 1 cards, 2 of hand-picked cells</span>" in html
