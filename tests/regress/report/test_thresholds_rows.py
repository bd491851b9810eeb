"""Words for brackets."""

import pytest

from regress.model.thresholds import Bracket
from regress.report.thresholds_rows import bracket_words, render_bracket


@pytest.mark.parametrize(
    ("bracket", "text"),
    [
        (None, "-"),
        (Bracket(None, None), "-"),
        (Bracket(65, 66), "66"),
        (Bracket(64, 66), "65..66"),
        (Bracket(528, None), ">528"),
        (Bracket(None, 16), "<=16"),
    ],
)
def test_brackets_in_words(bracket: Bracket | None, text: str) -> None:
    """Exact, between, beyond and before what was measured look different."""
    assert render_bracket(bracket) == text


@pytest.mark.parametrize(
    ("bracket", "text"),
    [
        (None, "not known"),
        (Bracket(None, None), "not known"),
        (Bracket(64, None), "not up to 64"),
        (Bracket(None, 8), "at 8 or below"),
        (Bracket(65, 66), "at 66"),
        (Bracket(64, 66), "from 65 to 66"),
    ],
)
def test_a_bracket_says_what_is_known(bracket: Bracket | None, text: str) -> None:
    """Only an exact bracket is one number."""
    assert bracket_words(bracket) == text
