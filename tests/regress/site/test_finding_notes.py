"""The findings page names the notes that explain a finding."""

from regress.report.history_stories import stories_of
from regress.site.page import Page, render
from tests.regress.pipeline.alerts.histories import finding, history

NOTE = "regress/docs/triage/2026-01-01-<a>.md"


def test_a_finding_names_its_notes() -> None:
    """Each page stands in the text, escaped; without one there is no such line."""
    told = history(finding(id="a", notes=(NOTE,)), finding(id="b", standing=False))
    stories = stories_of(told, told.findings)
    values = {"history": told, "standing": stories, "over": (), "better": ()}
    shared = dict.fromkeys(("machine", "machine_line", "options", "source"), "-")
    shared |= {"asv": "", "damaged": ""}
    html = render(Page("findings.html", "findings.html", "Findings", values), shared)
    assert finding().reproduce in html
    assert html.count("Triage note:") == 1
    assert "<code>regress/docs/triage/2026-01-01-&lt;a&gt;.md</code>" in html
