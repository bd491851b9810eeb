"""The generated parts of the documentation."""

from pathlib import Path

import msgspec

from regress.config import load_config
from regress.model.reason import ReasonCode
from regress.pipeline.documents import DOCS, generated, write_documents
from regress.report.settings import render_thresholds


def test_documents_are_current() -> None:
    """`python -m regress docs` would change nothing."""
    for name, text in generated().items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, "run `python -m regress docs`"


def test_tables_hold_every_threshold_and_code() -> None:
    """The page quotes all thresholds and all reason codes."""
    page = generated()["decision-rules.md"]
    assert render_thresholds(load_config()) in page
    assert all(f"| `{code}` |" in page for code in ReasonCode)


def test_writing_restores_a_stale_page(tmp_path: Path) -> None:
    """Stale tables are replaced and the prose around them stays."""
    page = "before\n<!-- reasons -->\nstale\n<!-- end -->\nafter\n"
    (tmp_path / "decision-rules.md").write_text(page)
    write_documents(tmp_path)
    written = (tmp_path / "decision-rules.md").read_text()
    assert "stale" not in written
    assert written.startswith("before\n")
    assert written.endswith("after\n")


def test_schema_describes_the_report() -> None:
    """The schemas are JSON Schema with every field of the reports."""
    schema = msgspec.json.decode((DOCS / "check.schema.json").read_bytes())
    assert {"exit_code", "findings", "rounds"} <= set(schema["$defs"]["CheckReport"]["properties"])
