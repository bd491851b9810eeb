"""What the site shows, judged from one recorded campaign."""

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from regress.config import load_config
from regress.model.verdict import Verdict
from regress.pipeline.check import check
from regress.pipeline.request import Request
from regress.site.page import render
from regress.site.pages.findings import feed
from regress.site.pages.overview import overview_pages
from regress.site.pages.regret import regret_pages
from regress.site.pages.release import release_pages
from regress.site.pages.thresholds import threshold_pages
from regress.site.subject import Subject
from tests.regress.site.trees import subject_of, write_part_of_recorded

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("rounds")
    write_part_of_recorded(found)
    return found


@pytest.fixture(scope="module")
def subject(root: Path) -> Subject:
    return subject_of(root)


def test_pairs_are_judged_as_check_does(subject: Subject, root: Path) -> None:
    """Of every two stacks the site says what `check` says, cell by cell and in both directions."""
    assert len(subject.pairs) == 10
    for (base, head), pair in subject.pairs.items():
        report = check(base, head, Request((root,), None, "auto", None, "made up"), load_config())
        assert pair.verdict is report.verdict
        told = {case: cell.verdict for case, cell in pair.cells.items()}
        assert told == {cell.case: cell.verdict for cell in report.cells}
        report = check(head, base, Request((root,), None, "auto", None, "made up"), load_config())
        assert pair.back == {cell.case: cell.verdict for cell in report.cells}


def test_steps_are_what_the_history_says(subject: Subject) -> None:
    """Counts of a release are those of its cells, and as many are behind as the history counts."""
    assert subject.history is not None
    releases = {release.stack: release for release in subject.history.releases}
    assert {*subject.steps} == {tag for tag, release in releases.items() if release.before}
    for tag, step in subject.steps.items():
        assert dict(step.counts) == releases[tag].verdicts
        assert Counter(cell.verdict for cell in step.cells.values()) == releases[tag].verdicts
        assert len(step.behind) == releases[tag].slower_than_best


def test_a_regression_that_stands_is_called_so(subject: Subject) -> None:
    """It need not leave a cell slower than its best: the history's own count of those differs."""
    (page,) = overview_pages(subject)
    shared = dict.fromkeys(("machine", "machine_line", "options", "source", "asv"), "-")
    html = render(page, shared | {"damaged": ""})
    assert '<th class="num">With a regression that stands</th>' in html
    assert "slower than their best" not in html.lower()


def test_the_feed_is_atom(subject: Subject) -> None:
    """Every finding is an entry with an id of its own, a date, and a link to its place."""
    root = ET.fromstring(feed(subject, "https://host/path/"))  # noqa: S314 - our own text
    assert root.tag == f"{ATOM}feed"
    entries = root.findall(f"{ATOM}entry")
    assert subject.history is not None
    assert len(entries) == len(subject.history.findings) > 0
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len({*ids}) == len(ids)
    for entry in entries:
        link = entry.find(f"{ATOM}link")
        assert link is not None
        assert link.get("href", "").startswith("https://host/path/findings.html#")
        assert entry.findtext(f"{ATOM}updated", "")[:4].isdecimal()
    days = [entry.findtext(f"{ATOM}updated", "") for entry in entries]
    assert days == sorted(days, reverse=True)


def test_the_cost_of_auto_is_the_worst_of_its_row(subject: Subject) -> None:
    """Newest release first; nothing that an engine's policy picked counts."""
    (page,) = regret_pages(subject)
    costs = page.values["costs"]
    assert [cost.tag for cost in costs] == page.values["tags"][::-1]
    for place, cost in enumerate(reversed(costs)):
        found = [row.regrets[place] for row in page.values["rows"] if "auto" in row.chooser]
        ratios = [regret.ratio.estimate for regret in found if regret]
        assert cost.worst.ratio.estimate == max(ratios)
        assert (cost.above, cost.of) == (sum(ratio > 1.05 for ratio in ratios), len(ratios))


def test_undecided_cells_are_not_among_those_that_changed(subject: Subject) -> None:
    """Of a release's cells that are not SAME each stands in one of the two tables."""
    for page in release_pages(subject):
        step = page.values["step"]
        changed, undecided = page.values["changed"], page.values["undecided"]
        assert all(cell.verdict is Verdict.UNDECIDED for _, cell in undecided)
        assert not any(cell.verdict is Verdict.UNDECIDED for _, cell in changed)
        others = [c for c in step.cells.values() if c.verdict is not Verdict.SAME] if step else []
        assert len(changed) + len(undecided) == len(others)


def test_releases_without_a_sweep_are_not_called_swept(subject: Subject) -> None:
    """A campaign of hand-picked cases sweeps nothing."""
    (page,) = threshold_pages(subject)
    assert page.values["swept"] == []
