"""Step costs as text, Markdown and JSON."""

import json
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

from regress.errors import ExitCode
from regress.model.step_cost import StepCostReport
from regress.model.thresholds import StackPair
from regress.pipeline.documents import DOCS
from regress.pipeline.request import ANY_TIER, Request
from regress.pipeline.step_cost.page import PROFILES
from regress.pipeline.step_cost.profile import load_profile
from regress.pipeline.step_cost.step_cost import step_cost
from regress.report import STEP_COST_RENDERERS
from regress.report.view import View
from regress.store.tree import RECORDED
from tests.regress.builders import CONFIG, make_round, write_rounds
from tests.regress.pipeline.deployments import (
    AUTO,
    CUDA,
    FA2,
    H200,
    deployment,
    load_of,
    record,
    rounds,
)

EVEN, GAP = load_of(64), load_of(7, 9999)


@pytest.fixture
def report(tmp_path: Path) -> StepCostReport:
    """An upgrade with a batch that no round holds."""
    for tag, kernel_us in (("v1.0", 100.0), ("v2.0", 200.0)):
        write_rounds(tmp_path, rounds(tag, {(EVEN, AUTO): (kernel_us, 9.0), (EVEN, CUDA): (99, 9)}))
    request = Request((tmp_path,), None, ANY_TIER, None, "made up")
    found = deployment(EVEN, GAP, backends=(AUTO, CUDA))
    return step_cost(found, StackPair("v1.0", "v2.0"), request, CONFIG)


@pytest.mark.parametrize("name", ["text", "markdown"])
def test_verdict_first_then_what_lacks(report: StepCostReport, name: str) -> None:
    """The verdict leads; what was not measured names how to measure it; the command ends it."""
    text = STEP_COST_RENDERERS[name](report, View())
    assert "REGRESSION" in text.splitlines()[0]
    assert "NO_DATA" in text
    assert "not measured" in text
    assert "workloads/catalog.py" in text
    assert text.rstrip().endswith(("made up", "```"))


def test_a_model_is_marked_in_every_cell(report: StepCostReport) -> None:
    """No modelled number stands without its mark."""
    text = STEP_COST_RENDERERS["text"](report, View())
    row = next(line for line in text.splitlines() if line.startswith(f"{CUDA}  ") and "?" in line)
    assert row.count("?") == 1


def test_a_batch_of_another_campaign_is_told(tmp_path: Path) -> None:
    """The campaign named above the tables is not that of every batch: a note says so."""
    late = load_of(32)
    main = rounds("v1.0", {(EVEN, AUTO): (100, 9), (EVEN, CUDA): (99, 9), (late, AUTO): (60, 9)})
    other = (
        make_round("v1.0", number, [record(late, CUDA, 50.0, 9.0)], "c9", machine=H200)
        for number in range(3)
    )
    write_rounds(tmp_path, [*main, *other])
    request = Request((tmp_path,), None, ANY_TIER, None, "made up")
    found = deployment(EVEN, late, backends=(AUTO, CUDA))
    report = step_cost(found, StackPair(None, "v1.0"), request, CONFIG)
    lines = STEP_COST_RENDERERS["text"](report, View()).splitlines()
    (note,) = (line for line in lines if "from campaign" in line)
    assert note.startswith(f"{CUDA} ")
    assert note.endswith("1 of 2 from campaign c9")


def test_json_fits_its_schema_and_reads_back(report: StepCostReport) -> None:
    """What is written is what was meant."""
    text = STEP_COST_RENDERERS["json"](report, View())
    schema = json.loads((DOCS / "step-cost.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(json.loads(text))
    assert msgspec.json.decode(text, type=StepCostReport) == report


@pytest.mark.parametrize("path", sorted(PROFILES.glob("*.toml")), ids=lambda path: path.stem)
def test_recorded_rounds_cover_the_shipped_profiles(path: Path) -> None:
    """Every shipped profile is measured wholly, so that its cost is one number without a gap."""
    request = Request((RECORDED,), None, ANY_TIER, None, "made up")
    report = step_cost(load_profile(path), StackPair(None, "v0.6.4"), request, CONFIG)
    assert report.exit_code is ExitCode.PASS
    assert all(b.source.by_rounds for b in report.costs[0].backends)
    assert "by measurement" in STEP_COST_RENDERERS["text"](report, View()).splitlines()[0]
    assert report.costs[0].best in {CUDA, FA2, f"{CUDA}-serving", f"{FA2}-serving"}
