"""Reports of the history name the notes that explain a finding."""

from collections.abc import Callable

import pytest

from regress.model.history import Explained, History
from regress.report.history_markdown import render_history_markdown
from regress.report.history_text import render_history_text
from regress.report.view import View
from tests.regress.pipeline.alerts.histories import finding, history

PAGES = ("regress/docs/triage/2026-01-01-a.md", "regress/docs/triage/2026-01-01-b.md")
NOTES = tuple(Explained(page, "longer loop") for page in PAGES)


@pytest.mark.parametrize("render", [render_history_text, render_history_markdown])
def test_notes_are_named_once_for_a_story(render: Callable[[History, View], str]) -> None:
    """Findings that are told together name each page once."""
    report = history(finding(id="a", notes=NOTES), finding(id="b", notes=NOTES[:1]))
    text = render(report, View(width=400))
    assert [text.count(page) for page in PAGES] == [1, 1]


@pytest.mark.parametrize("render", [render_history_text, render_history_markdown])
def test_a_note_goes_before_the_automatic_cause(render: Callable[[History, View], str]) -> None:
    """The title of the page is told first, and what the rounds say by themselves stays."""
    text = render(history(finding(notes=NOTES[:1])), View(width=400))
    assert text.index(f"{PAGES[0]}: longer loop") < text.index("another kernel")


@pytest.mark.parametrize("render", [render_history_text, render_history_markdown])
def test_without_a_note_none_is_named(render: Callable[[History, View], str]) -> None:
    """A finding that nobody explained names no page."""
    assert "triage/" not in render(history(finding()), View(width=400))
