"""The page of the documentation that shows the stored calibration."""

from pathlib import Path
from typing import Final

from regress.model.calibration import Calibration
from regress.output import write_file
from regress.pipeline.documents import DOCS, fill
from regress.report.calibration_markdown import render_calibration_blocks

__all__ = ["PAGE", "write_page"]

PAGE: Final = DOCS / "calibration.md"


def write_page(told: Calibration, path: Path = PAGE) -> None:
    """Write the tables of the page again; the prose around them stays.

    Raises
    ------
    UsageError
        If it cannot be written.
    """
    text = path.read_text(encoding="utf-8")
    write_file(fill(text, render_calibration_blocks(told)), path)
