"""What reports say of a run of `ab`."""

from regress.model.report import CheckReport
from regress.report.check_markdown import render_check_markdown
from regress.report.check_text import render_check_text
from regress.report.run_text import render_run
from regress.report.view import View
from tests.regress.report.samples import RUN, bare

REPORT: CheckReport = bare(run=RUN)


def test_sentences() -> None:
    """Cost, and error rates."""
    assert list(render_run(RUN)) == [
        "Run ab-made-up: 141 GPU seconds in 100 seconds, 2 campaigns.",
        (
            "If nothing differs, at most 0.8% of such runs call any cell slower and "
            "at most 0.2% call any noisier."
        ),
    ]


def test_text_has_a_table_of_stages() -> None:
    """What became of the cells stage by stage, then the sentences."""
    text = render_check_text(REPORT, View())
    assert "screen-1       4     70    60        4     6        0     81" in text
    assert "at most 0.8% of such runs call any cell slower" in text
    assert "Run " not in render_check_text(bare(), View())


def test_markdown_has_it_too() -> None:
    """The stages are folded, the sentences are not."""
    text = render_check_markdown(REPORT, View())
    assert "<details><summary>Stages of the run</summary>" in text
    assert "| `confirm` | `10` | `10` | `8` | `2` | `0` | `0` | `60` |" in text
    assert "at most 0.2% call any noisier." in text
