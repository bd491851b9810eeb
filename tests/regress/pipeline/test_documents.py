"""The generated parts of the documentation."""

from pathlib import Path

import msgspec
import pytest

from regress.config import load_config
from regress.model.reason import ReasonCode
from regress.pipeline import documents
from regress.pipeline.documents import (
    DOCS,
    PICTURE,
    README,
    YEAR,
    fill,
    generated,
    judged_pages,
    readme_blocks,
    write_documents,
)
from regress.pipeline.recorded import Recorded, load_recorded
from regress.report.picture import drawn_from, fingerprint
from regress.report.settings import render_thresholds
from regress.report.year_picture import year_fingerprint

STALE = "run `python -m regress docs`"


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    return load_recorded()


def test_documents_are_current() -> None:
    """`python -m regress docs` would change nothing."""
    for name, text in generated().items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, STALE


def test_readme_is_current(recorded: Recorded) -> None:
    """Every figure in the README is the one that the recorded rounds give today."""
    text = README.read_text(encoding="utf-8")
    blocks = readme_blocks(recorded)
    assert [name for name in blocks if f"<!-- {name} -->" not in text] == []
    assert fill(text, blocks) == text, STALE


def test_thresholds_and_claims_are_current(recorded: Recorded) -> None:
    """The pages about thresholds and claims say what the recorded rounds say today."""
    for name, text in judged_pages(recorded).items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, STALE


def test_pictures_are_current(recorded: Recorded) -> None:
    """The pictures were drawn from what the recorded rounds hold today."""
    assert drawn_from((DOCS / PICTURE).read_text()) == fingerprint(recorded.sweep), STALE
    assert drawn_from((DOCS / YEAR).read_text()) == year_fingerprint(recorded.year), STALE


def test_tables_hold_every_threshold_and_code() -> None:
    """The page quotes all thresholds and all reason codes."""
    page = generated()["decision-rules.md"]
    assert render_thresholds(load_config()) in page
    assert all(f"| `{code}` |" in page for code in ReasonCode)


def test_writing_restores_stale_pages(
    tmp_path: Path, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stale tables are replaced, the prose around them stays, a current picture is not drawn."""
    rules, readme, picture = (tmp_path / n for n in ("decision-rules.md", "README.md", PICTURE))
    waivers, claims, moved = (tmp_path / n for n in ("waivers.md", "claims.md", "thresholds.md"))
    model = tmp_path / "model.md"
    costs, said = tmp_path / "step-cost.md", tmp_path / "recorded.md"
    said.write_text("before\n<!-- choices -->\nstale\n<!-- end -->\nafter\n")
    costs.write_text("before\n<!-- step-costs -->\nstale\n<!-- end -->\nafter\n")
    model.write_text("before\n<!-- model-errors -->\nstale\n<!-- end -->\nafter\n")
    claims.write_text("before\n<!-- claims -->\nstale\n<!-- end -->\nafter\n")
    moved.write_text("before\n<!-- recorded-thresholds -->\nstale\n<!-- end -->\nafter\n")
    waivers.write_text("before\n<!-- waiver-states -->\nstale\n<!-- end -->\nafter\n")
    rules.write_text("before\n<!-- reasons -->\nstale\n<!-- end -->\nafter\n")
    readme.write_text("before\n<!-- checks -->\nstale\n<!-- end -->\nafter\n")
    picture.write_bytes((DOCS / PICTURE).read_bytes())
    (tmp_path / YEAR).write_bytes((DOCS / YEAR).read_bytes())
    monkeypatch.setattr(documents, "load_recorded", lambda: recorded)
    written = write_documents(tmp_path, readme)
    assert not {picture, tmp_path / YEAR} & set(written)
    for page in (rules, readme, waivers, claims, moved, costs, model, said):
        assert page in written
        text = page.read_text()
        assert "stale" not in text
        assert text.startswith("before\n")
        assert text.endswith("after\n")


def test_schema_describes_the_report() -> None:
    """The schemas are JSON Schema with every field of the reports."""
    schema = msgspec.json.decode((DOCS / "check.schema.json").read_bytes())
    assert {"exit_code", "findings", "rounds"} <= set(schema["$defs"]["CheckReport"]["properties"])
