"""What reports say of a run of `ab`."""

import pytest

from regress.model.rates import ErrorRate, Rate
from regress.model.report import CheckReport
from regress.report import CHECK_RENDERERS
from regress.report.check_markdown import render_check_markdown
from regress.report.check_text import render_check_text
from regress.report.run_text import render_error_rate, render_run
from regress.report.view import View
from tests.regress.report.samples import RUN, bare

REPORT: CheckReport = bare(run=RUN)


def test_sentences() -> None:
    """Cost, and error rates."""
    assert list(render_run(RUN)) == [
        (
            "Run ab-made-up: 141 GPU seconds in 100 seconds (the next process starts while one "
            "measures), 2 campaigns."
        ),
        (
            "Proved: of runs in which no cell got worse beyond its margin, at most 0.8% call any "
            "slower and at most 0.2% any noisier."
        ),
    ]


def test_text_has_a_table_of_stages() -> None:
    """What became of the cells stage by stage, then the sentences."""
    text = render_check_text(REPORT, View())
    assert "screen-1       4     70    60        4     6        0     81" in text
    assert "at most 0.8% call any slower" in text
    assert "Run " not in render_check_text(bare(), View())


def test_markdown_has_it_too() -> None:
    """The stages are folded, the sentences are not."""
    text = render_check_markdown(REPORT, View())
    assert "<details><summary>Stages of the run</summary>" in text
    assert "| `confirm` | 10 | 10 | 8 | 2 | 0 | 0 | 60 |" in text
    assert "at most 0.2% any noisier." in text


RATE = ErrorRate(
    command="ab",
    rounds=51,
    campaigns=4,
    rounds_a_side="4 to 12, then 10",
    tier="gate",
    alarms=Rate(1, 4000, 0.0, 0.0012),
    power={"+1%": Rate(98, 100, 0.9, 0.99)},
    detectable=0.008,
    uncalibrated=3,
    same_thresholds=False,
)


def test_the_error_rate_is_quoted_with_what_it_rests_on() -> None:
    """Alarms, power, and what makes the figures doubtful."""
    alarms, power, cells, thresholds = render_error_rate(RATE)
    assert "4 to 12, then 10 rounds a side: 1 of 4000 gates" in alarms
    assert "(at most 0.12%), drawn from 51 rounds of 4 campaigns, tier gate" in alarms
    assert power == "A slow-down of a quiet cell is found: +1% in 98%."
    assert cells.startswith("3 cells not calibrated")
    assert "calibrate again" in thresholds


@pytest.mark.parametrize("name", [name for name in CHECK_RENDERERS if name != "json"])
def test_reports_quote_it(name: str) -> None:
    """Every format for people and CI says what is proved and what was simulated."""
    text = CHECK_RENDERERS[name](bare(run=RUN, error_rate=RATE), View())
    assert "1 of 4000 gates" in text
    assert "at most 0.8% call any slower" in text
