"""A calibration as text and Markdown."""

import pytest

from regress.model.calibration import Calibration
from regress.pipeline.calibrate.calibrate import calibrate
from regress.report.calibration_markdown import (
    render_calibration_blocks,
    render_calibration_markdown,
)
from regress.report.calibration_tables import tables_of
from regress.report.calibration_text import render_calibration_text
from regress.report.view import View
from tests.regress.builders import CONFIG
from tests.regress.pipeline.twins import twin_rounds, wanted


@pytest.fixture(scope="module")
def told() -> Calibration:
    return calibrate(twin_rounds(), wanted(gates=4), CONFIG)


def test_text_holds_every_table_and_the_command(told: Calibration) -> None:
    """Targets come first, warnings and the command last."""
    lines = render_calibration_text(told, View()).splitlines()
    titles = [table.title for table in tables_of(told)]
    assert [line for line in lines if line in titles] == titles
    assert lines[0].startswith("4 gates of tier gate simulated from synthetic (Synthetic GPU)")
    assert lines[-1] == "Reproduce: made-up"
    assert any(line.startswith("Warning: 74 cases of tier gate not simulated") for line in lines)


def test_rows_are_as_wide_as_their_headers(told: Calibration) -> None:
    """In every table, so that no figure stands under a wrong word."""
    for table in tables_of(told):
        assert table.rows, table.name
        assert {len(row) for row in table.rows} == {len(table.header)}


def test_a_missed_target_cannot_be_overlooked(told: Calibration) -> None:
    """It is written in capitals."""
    rows = render_calibration_blocks(told)["targets"].splitlines()
    assert "| 40 from 3 campaigns | 24 from 2 | NOT MET |" in rows[2]


def test_markdown_is_the_blocks_under_their_titles(told: Calibration) -> None:
    """Documentation and `--format markdown` show the same tables."""
    page = render_calibration_markdown(told)
    blocks = render_calibration_blocks(told)
    assert all(block in page for name, block in blocks.items() if name != "calibrated")
    assert "seed 1" in blocks["calibrated"]
