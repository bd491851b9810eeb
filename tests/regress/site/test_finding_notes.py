"""The findings page names the notes that explain a finding."""

import re

import msgspec

from regress.model.history import Explained
from regress.report.history_stories import stories_of
from regress.site.page import Page, render
from regress.site.pages.findings import anchors_of
from regress.site.pages.notes import render_note
from regress.store.notes import load_note_text, load_notes
from tests.regress.pipeline.alerts.histories import finding, history

NOTE = "regress/docs/triage/2026-01-01-<a>.md"


def test_a_finding_names_its_notes() -> None:
    """Each note's title is the link, escaped and as written; without one there is no such line."""
    told = history(
        finding(id="a", notes=(Explained(NOTE, "fa2 loops <longer>"),)),
        finding(id="b", standing=False),
    )
    stories = stories_of(told, told.findings)
    values = {"history": told, "standing": stories, "suspects": (), "over": (), "better": ()}
    values["anchors"] = anchors_of(stories)
    shared = dict.fromkeys(("machine", "machine_line", "options", "source"), "-")
    shared |= {"asv": "", "damaged": ""}
    html = render(Page("findings.html", "findings.html", "Findings", values), shared)
    assert finding().reproduce in html
    assert html.count("Explained:</strong>") == 1
    name = "2026-01-01-&lt;a&gt;"
    path = f'href="notes/{name}.html" title="regress/docs/triage/{name}.md"'
    link = f"<a {path}>fa2 loops &lt;longer&gt;</a>."
    assert html.index(link) < html.index("Likely cause:")


def test_an_address_leads_on_when_its_change_was_taken_back() -> None:
    """The bare id is the first part's, unless a finding has it; a part that is told with others
    keeps its own, and no id is there twice."""
    first = finding(id="a-until-v3", standing=False, recovered_by="v3")
    told = history(
        finding(id="b"),
        first,
        msgspec.structs.replace(first, id="c-after-v1-until-v3"),
        finding(id="a-until-v4", standing=False, recovered_by="v4"),
        finding(id="b-until-v3", standing=False, recovered_by="v3", verdict="GONE"),
    )
    anchors = anchors_of(stories_of(told, told.findings))
    assert anchors.pop("a-until-v3") == ["a", "c-after-v1-until-v3", "c"]
    assert {*anchors} == {"b", "a-until-v4", "b-until-v3"}
    assert not any(anchors.values())


def test_a_note_is_a_page_without_markup_of_its_own() -> None:
    """Tables and code are shown, HTML is text, and links lead to pages of the site or elsewhere."""
    text = """# Title

[one](a.md#part), [other](b.md), [page](../history.md), [web](https://example.com/c.md)
<script>alert(1)</script>

| x |
|---|
| `y` |
"""
    html = render_note(text, {"a.md"})
    assert re.findall(r'href="([^"]*)"', html) == ["a.html#part", "https://example.com/c.md"]
    assert "<span>other</span>, <span>page</span>" in html
    assert "&lt;script&gt;" in html
    assert "<script" not in html
    assert "<td><code>y</code></td>" in html


def test_every_recorded_note_becomes_a_page() -> None:
    """What a head says is not shown, and each page has one title."""
    for note in load_notes():
        html = render_note(load_note_text(note.path), set())
        assert html.startswith("<h1>")
        assert html.count("<h1>") == 1
        assert "+++" not in html
