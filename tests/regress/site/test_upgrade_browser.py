"""The page of upgrades in a browser: what it adds up, and what it answers."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from regress.config import load_config
from regress.model.report import CheckReport
from regress.model.verdict import WORST_FIRST, Verdict
from regress.pipeline.check import check
from regress.pipeline.request import Request
from regress.site.words import MARKS, times
from tests.regress.site.browsing import NARROW, WIDE, watch
from workloads.record import Round

ROWS = """rows => rows.map(row => [row.dataset.tag, row.querySelector('.verdict').textContent,
  [...row.querySelectorAll('.counts span')].map(span => span.title),
  [...row.querySelectorAll('.extreme')].map(cell => cell.childNodes[0].textContent)])"""


def row_of(report: CheckReport) -> list[str | list[str]]:
    """What the page should show of a report: verdict, counts, largest loss and gain."""
    counts = Counter(cell.verdict for cell in report.cells)
    extremes = []
    for verdict, most in ((Verdict.REGRESSION, max), (Verdict.IMPROVEMENT, min)):
        named = {cell.case for cell in report.cells if cell.verdict is verdict}
        found = (f for f in report.findings if f.gates and f.series.case in named)
        ratios = [f.measured.ratio.estimate for f in found if f.measured]
        extremes.append(times(most(ratios, default=None)))
    told = [f"{counts[verdict]} {verdict}" for verdict in WORST_FIRST if counts[verdict]]
    return [f"{MARKS[report.verdict]} {report.verdict}", told, extremes]


@pytest.mark.parametrize(
    ("chosen", "cells"),
    [
        ("v0.5.3", ((), None)),
        ("v0.6.0/decode-sweep", (("decode-sweep",), None)),
        ("v0.6.4/", ((), None)),
        ("v0.5.3//fa2", ((), "@flashinfer-.*-fa2")),
        ("v0.6.4/decode-sweep/cuda", (("decode-sweep",), "@flashinfer-.*-cuda")),
    ],
)
def test_the_way_to_another_release_has_the_numbers_of_check(
    browser: Browser,
    site: Path,
    rounds: tuple[Path, list[Round]],
    chosen: str,
    cells: tuple[tuple[str, ...], str | None],
) -> None:
    """Counts, verdicts and largest changes are those of `check`, of all cells or of some."""
    page = browser.new_page(viewport=WIDE)
    page.goto(f"{site.as_uri()}/upgrade.html#{chosen}")
    tag, (families, pattern) = chosen.partition("/")[0], cells
    page.wait_for_selector("#choices tbody td")
    rows = page.locator("#choices tr[data-tag]").evaluate_all(ROWS)
    asked = Request((rounds[0],), None, "auto", pattern, "", families=families)
    others = ("v0.6.4", "v0.6.3", "v0.6.1", "v0.6.0", "v0.5.3")
    expected = [
        [other, *row_of(check(tag, other, asked, load_config()))]
        for other in others
        if other != tag
    ]
    assert rows == expected


def test_the_release_to_go_to_is_named(browser: Browser, site: Path) -> None:
    """The release before the newest is chosen at first; the answer follows what is chosen."""
    watched = watch(browser.new_context(viewport=NARROW))
    page = watched.page
    page.goto(f"{site.as_uri()}/upgrade.html")
    page.wait_for_function("document.title.startsWith('From v0.6.3')")
    assert "go to v0.6.4: none of" in page.locator("#answer").inner_text()
    page.locator("select[name=tag]").select_option("v0.6.4")
    page.wait_for_function("document.title.startsWith('From v0.6.4')")
    assert "v0.6.4 is the newest release measured" in page.locator("#answer").inner_text()
    page.locator("select[name=tag]").select_option("v0.5.3")
    page.locator("select[name=family]").select_option("prefill-paths")
    page.wait_for_function("document.title.startsWith('From v0.5.3')")
    assert page.url.endswith("#v0.5.3/prefill-paths")
    heads = page.locator("#choices thead th").all_inner_texts()
    assert heads[5:] == ["prefill-paths"]
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    page.locator("select[name=backend]").select_option("fa2")
    page.wait_for_function("document.querySelectorAll('#choices .against a').length > 0")
    assert page.url.endswith("#v0.5.3/prefill-paths/fa2")
    page.locator("#answer a").first.click()
    page.wait_for_selector("#comparison h2")
    assert page.url.split("#")[1].startswith("v0.5.3...")
    assert watched.complaints == []


def test_what_is_not_here_is_not_answered_for_another(browser: Browser, site: Path) -> None:
    """An unknown release, family or backend is named before the answer for what is shown."""
    page = browser.new_page(viewport=WIDE)
    page.goto(f"{site.as_uri()}/upgrade.html#v0.9.9/decode-sweep/fa9")
    page.wait_for_selector("#choices tbody td")
    told = page.locator("#answer .note").inner_text()
    assert told.startswith("Not measured here: v0.9.9, fa9. Below is the answer for v0.6.3, decode")
    page.goto(f"{site.as_uri()}/upgrade.html#v0.6.3/decode-sweep")
    page.wait_for_function("!document.querySelector('#answer .note')")
    page.goto(f"{site.as_uri()}/upgrade.html#v0.6.3/prefill-paths/cuda")
    page.wait_for_function("document.querySelector('#answer .missing')")
    assert "No cell" in page.locator("#answer").inner_text()


def test_a_row_names_the_losses_of_its_twins(browser: Browser, site: Path) -> None:
    """Where a twin is slower and the release itself is not, its row says so."""
    page = browser.new_page(viewport=WIDE)
    page.goto(f"{site.as_uri()}/upgrade.html#v0.5.3")
    page.wait_for_selector("#choices tbody td")
    row = page.locator("tr[data-tag='v0.6.4']")
    counts = row.locator(".counts").inner_text()
    slower = page.locator("tr[data-tag='v0.6.1'] .v-regression[role=img]").inner_text().split()[1]
    assert "identical kernels" not in row.inner_text()
    page.evaluate("settings.twins = {'v0.6.4': ['v0.6.1'], 'v0.6.1': ['v0.6.4']}; update()")
    page.wait_for_function("document.body.textContent.includes('identical kernels to')")
    told = " ".join(row.inner_text().split())
    assert f"identical kernels to v0.6.1, which is slower in {slower} cells, at most" in told
    assert row.locator(".counts").inner_text() == counts
    assert "identical kernels" not in page.locator("tr[data-tag='v0.6.1']").inner_text()


ITSELF = {"tag": "v0.6.0", "lost": 0, "lacking": 0, "bad": []}
SLOW = {"place": 3, "verdict": "REGRESSION", "ratio": 1.04}
TWINS: tuple[tuple[str, list[Any], Any, list[Any]], ...] = (
    ("slower", [SLOW], SLOW, [False, 1.04]),
    ("slower in a larger tier", [{"place": 99, "verdict": "REGRESSION"}], None, [False, 1]),
    ("wrong", [{**SLOW, "verdict": "BROKEN"}], None, [False, None]),
    ("not measured", [{**SLOW, "verdict": "GONE"}], None, [True, 1]),
    ("as good", [], None, [True, 1]),
)


def test_a_loss_of_a_twin_counts(browser: Browser, site: Path) -> None:
    """A release that is shown slower nowhere is not free of losses if its twin is slower."""
    page = browser.new_page()
    page.goto(f"{site.as_uri()}/upgrade.html")
    judged = """rows => { settings.twins = {'v0.6.0': ['v0.6.1']}; findLosses(rows);
      return [rows[0].clean, Number.isFinite(rows[0].loss) ? rows[0].loss : null]; }"""
    for name, bad, slow, expected in TWINS:
        twin = {"tag": "v0.6.1", "lost": 0, "lacking": 0, "bad": bad, "slow": slow}
        assert page.evaluate(judged, [ITSELF, twin]) == expected, name
        stranger = {**twin, "tag": "v0.6.3"}
        assert page.evaluate(judged, [ITSELF, stranger]) == [True, 1], name


ADDED = """verdicts => { const letters = verdicts.map(v => settings.verdicts.indexOf(v)).join("");
  const pair = { letters, across: "00000", ratios: [0.5, 0.8, 1.2, 1.05, null], more: {} };
  const row = total("v0.6.0", pair, () => true);
  return [row.saved, row.worse, row.open, row.slow.ratio,
    typical(row, "decode-sweep").innerText]; }"""


def test_cells_are_added_up(browser: Browser, site: Path) -> None:
    """Gains are 1 - ratio of what is faster; a family has the median of all its ratios."""
    page = browser.new_page()
    page.goto(f"{site.as_uri()}/upgrade.html")
    verdicts = ["IMPROVEMENT", "IMPROVEMENT", "REGRESSION", "UNDECIDED", "NEW"]
    assert page.evaluate(ADDED, verdicts) == [pytest.approx(0.7), 1, 1, 1.2, "▼ 0.925"]


FREE = {"clean": True, "saved": 0.5, "open": 0, "across": False, "loss": 1, "worse": 0}
FREE |= {"lacking": 0, "missing": 0}
SLOWER = {**FREE, "clean": False, "loss": 1.1, "worse": 1}


CHOICES = (
    ("a loss", FREE, {**SLOWER, "saved": 5}, "older"),
    ("gains", {**FREE, "saved": 0.6}, FREE, "older"),
    ("equal gains", {**FREE, "saved": 0.505}, FREE, "newer"),
    ("across campaigns", FREE, {**FREE, "saved": 0.505, "across": True}, "older"),
    ("undecided", FREE, {**FREE, "open": 1}, "older"),
    ("no data", FREE, {**FREE, "missing": 1}, "older"),
    ("smallest loss", {**SLOWER, "loss": 1.2}, {**SLOWER, "worse": 9}, "newer"),
    ("lost", SLOWER, {**SLOWER, "loss": 1e300}, "older"),
)


def test_the_choice_follows_its_rule(browser: Browser, site: Path) -> None:
    """What the page says in words of its rule is what it does."""
    page = browser.new_page()
    page.goto(f"{site.as_uri()}/upgrade.html")
    tags = {"older": "v0.5.3", "newer": "v0.6.0"}
    for name, older, newer, chosen in CHOICES:
        rows = [{**older, "tag": tags["older"]}, {**newer, "tag": tags["newer"]}]
        assert page.evaluate("rows => best(rows).tag", rows) == tags[chosen], name
