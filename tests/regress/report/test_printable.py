"""Text that would not be shown as it is."""

import pytest

from regress.report.printable import printable
from regress.report.round_text import render_round_text
from regress.report.view import View
from tests.regress.builders import CASE, lost, make_round, measured

ROUND = make_round("v1", 0, [measured(CASE, 100.0)])


def test_nothing_else_changes() -> None:
    """A round of printable text is as it was."""
    assert printable(ROUND) == ROUND


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nSAME", r"a\nSAME"),
        ("\x1b[2J", r"\x1b[2J"),
        ("\u202eleft", r"\u202eleft"),
        ("\udcff", r"\udcff"),
        ("größer … µs", "größer … µs"),
    ],
)
def test_terminal_codes_and_line_breaks_are_shown_escaped(text: str, shown: str) -> None:
    """A round's own words forge neither lines nor colours."""
    found = make_round("v1", 0, [lost(CASE, reason=text)], warnings=(text,), campaign="c1")
    lines = render_round_text(found, View()).splitlines()
    assert lines[-1] == f"Warning: {shown}"
    assert f"1 case failed: {shown}" in lines
