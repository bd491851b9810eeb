"""Plan files of stages."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from workloads.record import Case
from workloads.stage import STAGE_SCHEMA, StagePlan, load_stage, write_stage

PLAN = StagePlan(
    run="c1",
    stage="screen-1",
    stacks=("v1", "v2"),
    blocks=4,
    todo=(2, 4),
    campaign="c1~2",
    tier="gate",
    cases=(Case("first", "sdpa"), Case("second", "fa3-varlen")),
    directory="/rounds",
    machine="h200",
)


def test_a_plan_survives_its_file(tmp_path: Path) -> None:
    """What is written is what is read, and equal plans are equal bytes."""
    write_stage(PLAN, tmp_path / "plan.json")
    assert load_stage(tmp_path / "plan.json") == PLAN
    write_stage(PLAN, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "plan.json").read_bytes()


def test_nothing_left_to_do_is_a_plan(tmp_path: Path) -> None:
    """A stage whose blocks are all measured has none to do."""
    done = msgspec.structs.replace(PLAN, todo=())
    write_stage(done, tmp_path / "plan.json")
    assert load_stage(tmp_path / "plan.json") == done


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (
            {"schema": STAGE_SCHEMA + 1},
            f"is a plan of schema 2, this checkout reads {STAGE_SCHEMA}",
        ),
        ({"todo": [2, 5]}, "plans no stacks, no cases, or blocks beyond the last one"),
        ({"todo": [0]}, "is no plan of a stage: Expected `int` >= 1"),
        ({"blocks": 0}, "is no plan of a stage: Expected `int` >= 1"),
        ({"stacks": []}, "plans no stacks"),
        ({"cases": []}, "plans no stacks, no cases"),
        ({"surprise": 1}, "is no plan of a stage: Object contains unknown field `surprise`"),
        ({"run": None}, "is no plan of a stage: Expected `str`"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    tmp_path: Path, fields: dict[str, Any], told: str
) -> None:
    """A plan of another schema, of nothing, or beyond its blocks is one line with the path."""
    path = tmp_path / "plan.json"
    write_stage(PLAN, path)
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))
    with pytest.raises(ValueError, match="plan") as caught:
        load_stage(path)
    assert str(caught.value).startswith(f"{path} {told}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 99999])
def test_what_is_no_plan_is_one_line(tmp_path: Path, content: bytes) -> None:
    """A cut, empty or foreign file is named."""
    path = tmp_path / "plan.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is no plan of a stage"):
        load_stage(path)


def test_a_missing_plan_is_one_line(tmp_path: Path) -> None:
    """A file that is not there is no plan."""
    with pytest.raises(ValueError, match="is no plan of a stage"):
        load_stage(tmp_path / "none.json")
