"""The generated parts of `regress/docs`."""

import re
from pathlib import Path
from typing import Final

from regress.config import load_config
from regress.model.backends import BackendsReport
from regress.model.report import CheckReport
from regress.report.json import render_schema
from regress.report.settings import render_thresholds
from regress.report.tables import render_reasons, render_verdicts

__all__ = ["DOCS", "generated", "write_documents"]

DOCS: Final = Path(__file__).parents[1] / "docs"
_RULES: Final = "decision-rules.md"


def write_documents(folder: Path = DOCS) -> tuple[Path, ...]:
    """Write the generated parts again and return the paths."""
    for name, text in generated(folder).items():
        (folder / name).write_text(text, encoding="utf-8")
    return tuple(folder / name for name in generated(folder))


def generated(folder: Path = DOCS) -> dict[str, str]:
    """Return what each document with generated parts should hold, by file name."""
    rules = (folder / _RULES).read_text(encoding="utf-8")
    for marker, table in (
        ("thresholds", render_thresholds(load_config())),
        ("reasons", render_reasons()),
        ("verdicts", render_verdicts()),
    ):
        rules = _replace(rules, marker, table)
    return {
        _RULES: rules,
        "check.schema.json": render_schema(CheckReport),
        "backends.schema.json": render_schema(BackendsReport),
    }


def _replace(text: str, marker: str, table: str) -> str:
    pattern = rf"(<!-- {marker} -->\n).*?(<!-- end -->)"
    return re.sub(pattern, lambda match: f"{match[1]}{table}{match[2]}", text, flags=re.DOTALL)
