"""The site in a browser: every page from files, the main ones from a server."""

import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urldefrag

import pytest
from playwright.sync_api import Browser, ViewportSize

from regress.site.page import NAVIGATION
from tests.regress.site.browsing import NARROW, WIDE, watch
from workloads.record import Case, Round

CELL = Case("decode-h32x4-d128-bf16-p16-b66-skew40-t262144", "flashinfer-decode-tc-auto")
CELL_PAGE = f"cells/{CELL}.html"
MAIN = (*(path for path, _ in NAVIGATION), "releases/v0.6.0.html", CELL_PAGE)
MOST_MS = 2000
LEAST_CONTRAST = 4.5
"""WCAG 2.2, success criterion 1.4.3 (AA), for text of normal size."""


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    """The site from a web server on the loopback."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_every_entry_of_the_feed_has_its_place(site: Path) -> None:
    """Findings that are told together keep their own addresses."""
    page = (site / "findings.html").read_text(encoding="utf-8")
    places = re.findall(r'href="findings\.html#([^"]+)"', (site / "findings.atom").read_text())
    assert places
    assert [place for place in places if f'id="{place}"' not in page] == []
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len({*ids}) == len(ids)


def test_every_page_is_reached_and_opens_cleanly(browser: Browser, site: Path) -> None:
    """Following links from the front leads to every page; none complains or leaves the folder."""
    watched = watch(browser.new_context(viewport=NARROW))
    root, seen, waiting = site.as_uri() + "/", set[str](), ["index.html"]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        watched.page.goto(root + path)
        links = watched.page.eval_on_selector_all(
            "a[href]", "found => found.map(a => a.href.baseVal ?? a.href)"
        )
        inside = [urldefrag(link)[0].removeprefix(root) for link in links if link.startswith(root)]
        waiting += [unquote(link) for link in inside if link.endswith(".html")]
        wider = "document.documentElement.scrollWidth > innerWidth"
        assert not watched.page.evaluate(wider), f"{path} is wider than a phone"
    written = {str(path.relative_to(site)) for path in site.rglob("*.html")}
    assert seen == written
    assert watched.complaints == []
    assert [url for url in watched.asked if not url.startswith((root, "data:"))] == []


def test_the_main_pages_work_from_a_server(browser: Browser, served: str) -> None:
    """The same pages over HTTP: nothing is missing and no request leaves the host."""
    watched = watch(browser.new_context(viewport=WIDE))
    for path in MAIN:
        watched.page.goto(served + path)
        assert watched.page.locator("h1").is_visible()
    assert watched.complaints == []
    assert [url for url in watched.asked if not url.startswith((served, "data:"))] == []


def test_a_cell_shows_the_numbers_of_the_round_files(
    browser: Browser, site: Path, rounds: tuple[Path, list[Round]]
) -> None:
    """Every round of the cell is listed and drawn with exactly the time that its file gives."""
    page = browser.new_page(viewport=WIDE)
    page.goto(f"{site.as_uri()}/{CELL_PAGE}")
    page.locator("#rounds summary").click()
    rows = page.locator("#rounds tbody tr").evaluate_all(
        "rows => rows.map(row => [row.dataset.round, Number(row.cells[6].textContent)])"
    )
    expected = {
        r.id: record.time_us for r in rounds[1] for record in r.cases if record.case == CELL
    }
    assert dict(rows) == expected
    assert len(rows) == len(expected)
    dots = page.locator('[data-chart="history"] svg [aria-label="dot"] > *').count()
    assert dots == len(expected)


def test_a_comparison_is_linked_by_its_address(browser: Browser, site: Path) -> None:
    """The address names the pair, the select changes it, and older comes first."""
    watched = watch(browser.new_context(viewport=WIDE))
    page = watched.page
    page.goto(f"{site.as_uri()}/compare.html#v0.6.0...v0.5.3")
    title = page.locator("#comparison h2")
    assert "v0.5.3 → v0.6.0" in title.inner_text()
    assert page.locator("#comparison tbody tr").count() > 0
    page.locator("select[name=base]").select_option("v0.6.0")
    page.locator("select[name=head]").select_option("v0.6.4")
    page.wait_for_function("document.title.startsWith('v0.6.0 → v0.6.4')")
    assert page.url.endswith("#v0.6.0...v0.6.4")
    assert "IMPROVEMENT" in page.locator("#comparison .counts").inner_text()
    assert watched.complaints == []


def test_an_address_that_nothing_can_decode_leaves_the_page_working(
    browser: Browser, site: Path
) -> None:
    """A lone % is like any unknown address."""
    watched = watch(browser.new_context(viewport=WIDE))
    for name, shown in (
        ("compare", "#comparison tbody td"),
        ("upgrade", "#choices tbody td"),
        ("cells", "#cells"),
    ):
        watched.page.goto(f"{site.as_uri()}/{name}.html#%E0%A4%A")
        assert watched.page.locator(shown).first.is_visible(), name
    assert watched.complaints == []


DRAWN = """() => {
  const told = { v1: { measured: [null, 128] }, v2: { measured: [65, 66] } };
  const made = charts.thresholds({ tags: ["v1", "v2"], axes: [{ backend: "b", told }] }, 800);
  const bars = [...made.querySelectorAll('[stroke-linecap="round"] line')];
  return bars.map(bar => Math.round(bar.getAttribute("y1") - bar.getAttribute("y2")));
}"""


def test_a_threshold_that_times_bound_widely_is_no_dot(browser: Browser, site: Path) -> None:
    """From the floor to its upper end it is a bar; only neighbours make a dot."""
    page = browser.new_page(viewport=WIDE)
    page.goto(f"{site.as_uri()}/thresholds.html")
    wide, exact = page.evaluate(DRAWN)
    assert wide > 30
    assert exact == 0


def test_the_roofline_of_a_release_is_linked_by_its_address(browser: Browser, site: Path) -> None:
    """The address chooses the release, and the table follows the filter."""
    page = browser.new_page(viewport=WIDE)
    page.goto(f"{site.as_uri()}/roofline.html#v0.5.3")
    assert page.locator("#pick select").input_value() == "v0.5.3"
    every = page.locator("#rooftable tbody tr").count()
    page.locator("#rooffilter").fill("prefill fa2")
    assert 0 < page.locator("#rooftable tbody tr").count() < every


def test_cells_are_filtered_and_sorted(browser: Browser, site: Path) -> None:
    """Words narrow the list, a link keeps them, and a click on a title sorts by numbers."""
    page = browser.new_page(viewport=WIDE)
    page.goto(f"{site.as_uri()}/cells.html#skew40%20fa3-varlen")
    rows = page.locator("#cells tbody tr:visible")
    assert rows.count() > 0
    assert all("fa3-varlen" in text for text in rows.all_inner_texts())
    page.locator("th button", has_text="Newest µs").click()
    cells = page.locator("#cells tbody tr:visible td:nth-child(5)").all_inner_texts()
    times = [float(found[0].replace(",", "")) for c in cells if (found := re.match(r"[\d.,]+", c))]
    assert times == sorted(times)


def test_everything_is_reached_by_keyboard(browser: Browser, site: Path) -> None:
    """Tab goes through every link and control of the front page, and Enter works the theme."""
    page = browser.new_page(viewport=WIDE)
    page.goto(f"{site.as_uri()}/index.html")
    wanted = page.evaluate(
        """() => [...document.querySelectorAll('a[href], button, summary, input, [tabindex="0"]')]
             .filter(e => !e.closest('svg') && e.checkVisibility()).length"""
    )
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    reached = 0
    while page.evaluate("document.activeElement !== document.body") and reached <= wanted:
        reached += 1
        page.keyboard.press("Tab")
    assert reached == wanted
    page.locator("#theme").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


CONTRAST = """() => {
  const channel = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = rgb => rgb.map(channel).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const parse = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const paper = light(parse(getComputedStyle(document.body).backgroundColor));
  const probe = document.body.appendChild(document.createElement('i'));
  return ['ink', 'muted', 'link', 'slower', 'faster', 'unsure', 'gone', 'new'].map(name => {
    probe.style.color = `var(--${name})`;
    const text = light(parse(getComputedStyle(probe).color));
    const [high, low] = [Math.max(text, paper), Math.min(text, paper)];
    return [name, (high + 0.05) / (low + 0.05)];
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_both_themes(
    browser: Browser, site: Path, scheme: Literal["light", "dark"]
) -> None:
    """Every colour of text has the contrast to the paper that WCAG asks for."""
    page = browser.new_page(color_scheme=scheme)
    page.goto(f"{site.as_uri()}/index.html")
    found = dict(page.evaluate(CONTRAST))
    assert {name: ratio for name, ratio in found.items() if ratio < LEAST_CONTRAST} == {}


@pytest.mark.parametrize(("name", "size"), [("wide", WIDE), ("narrow", NARROW)])
def test_pages_are_drawn_quickly_at_every_size_and_theme(
    browser: Browser, site: Path, tmp_path: Path, name: str, size: ViewportSize
) -> None:
    """Every picture is drawn within two seconds, in colours that follow the theme."""
    page = browser.new_page(viewport=size)
    for path in MAIN:
        page.goto(f"{site.as_uri()}/{path}")
        for chart in page.locator("[data-chart]:visible").all():
            assert chart.locator("svg").first.is_visible(), path
        assert page.evaluate("performance.now()") < MOST_MS, path
        shots = []
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            shots.append(page.screenshot(path=tmp_path / f"{Path(path).stem}-{name}-{scheme}.png"))
        assert shots[0] != shots[1], path
