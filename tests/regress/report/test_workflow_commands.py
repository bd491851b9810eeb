"""Lines that a runner obeys, and text that it must not obey."""

from hypothesis import example, given
from hypothesis import strategies as st

from regress.report.workflow_commands import annotation, harmless


def test_annotation_is_one_line_whatever_it_says() -> None:
    """Line breaks, percent signs and separators are escaped as a runner reads them."""
    told = annotation("error", "a:b,c", "50% slower\nsecond::line")
    assert told == "::error title=a%3Ab%2Cc::50%25 slower%0Asecond::line\n"


@given(st.text())
@example("  ::set-output::x")
@example("\u00a0::x")
@example("a ##[error]##[x]")
@example("##\x1b[error]")
def test_harmless_text_has_no_commands(text: str) -> None:
    """No line begins a command, none holds one, and nothing invisible is left."""
    shown = harmless(text)
    assert "##[" not in shown
    assert not any(line.lstrip().startswith("::") for line in shown.split("\n"))
    assert all(line.isprintable() for line in shown.split("\n"))


@given(st.text(), st.text())
def test_annotation_is_one_command(title: str, message: str) -> None:
    """Whatever the words are, one line comes out."""
    told = annotation("warning", title, message)
    assert told.count("\n") == 1
    assert "##[" not in told
