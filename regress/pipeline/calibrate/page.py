"""The page of the documentation that shows the stored calibration."""

from pathlib import Path
from typing import Final

import msgspec

from regress.model.calibration import Calibration
from regress.output import write_file
from regress.pipeline.calibrate.targets import targets
from regress.pipeline.documents import DOCS, fill
from regress.report.calibration_markdown import render_calibration_blocks

__all__ = ["PAGE", "page_blocks", "write_page"]

PAGE: Final = DOCS / "calibration.md"


def write_page(told: Calibration, path: Path = PAGE) -> None:
    """Write the tables of the page again; the prose around them stays.

    Raises
    ------
    UsageError
        If it cannot be written.
    """
    text = path.read_text(encoding="utf-8")
    write_file(fill(text, page_blocks(told)), path)


def page_blocks(told: Calibration) -> dict[str, str]:
    """Return the tables by name; targets are told from the stored rates, in today's words."""
    judged = targets(told.campaigns, told.null, told.power, told.rules)
    return render_calibration_blocks(msgspec.structs.replace(told, targets=judged))
