"""The findings that reach furthest, as Markdown."""

from msgspec.structs import replace

from regress.model.cause import Cause
from regress.model.finding import Metric
from regress.model.history import ControlGroup, Explained
from regress.report.findings_markdown import render_controls, render_top_findings, top_stories
from tests.regress.builders import CASE, OTHER
from tests.regress.pipeline.alerts.histories import finding, history


def test_a_standing_regression_comes_first_then_the_reach() -> None:
    """One small regression that stands is before a large change that is over."""
    over = finding(id="over", size=9.0, cases=(CASE, OTHER), recovered_by="v3", standing=False)
    faster = finding(id="faster", verdict="IMPROVEMENT", size=0.5)
    small = finding(id="small", size=1.04)
    host = finding(id="host", metric=Metric.PLAN_TIME, size=5.0)
    told = history(faster, over, host, small)
    assert [story.lead.id for story in top_stories(told)] == ["small", "over", "faster"]


def test_the_last_place_is_not_for_what_still_stands() -> None:
    """However many regressions stand, the largest change of all others is told, too."""
    standing = (finding(id=str(n), size=1 + n / 100, first_bad=f"v{n}") for n in range(2, 6))
    over = finding(id="over", size=9.0, recovered_by="v3", standing=False)
    told = top_stories(history(*standing, over))
    assert [story.lead.id for story in told] == ["5", "4", "over"]


def test_a_line_says_what_why_and_what_became_of_it() -> None:
    """What was taken back says by which release, what stands says so."""
    line = render_top_findings(history(finding(recovered_by="v3", standing=False)))
    assert line == (
        "- **`v2`** (after `v1`): Decode is slower (decode). Another kernel. Taken back by `v3`.\n"
    )
    assert " Still so in `" in render_top_findings(history(finding()))


def test_a_note_is_the_reason_where_there_is_one() -> None:
    """It knows more than what was found from the rounds alone, and is linked."""
    notes = (Explained("docs/a.md", "first"), Explained("docs/b.md", "second"))
    line = render_top_findings(history(finding(notes=notes)))
    assert "Why: [first](docs/a.md) and [second](docs/b.md)." in line
    assert "Another kernel" not in line


def test_text_of_errors_is_no_markup() -> None:
    """An error message cannot write tags into the page."""
    cause = Cause("<b>@someone</b>", explained=True, evidence=(), files=())
    assert "<b>" not in render_top_findings(history(finding(cause=cause)))


def test_nothing_found_is_said() -> None:
    """An empty list would look like a mistake."""
    assert render_top_findings(history()) == "Nothing was shown to change.\n"


def test_controls_say_when_nothing_was_measured() -> None:
    """Zero of zero is no false-alarm rate."""
    told = history()
    assert "not measured" in render_controls(told)
    group = ControlGroup((), 200, 1, 0, 0.005, 0.0235)
    assert "1 of 200" in render_controls(replace(told, controls=group))
    assert "at most 2.4%" in render_controls(replace(told, controls=group))
