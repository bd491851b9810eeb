"""Words for brackets."""

import pytest

from regress.model.thresholds import Bracket
from regress.report.thresholds_rows import render_bracket


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
