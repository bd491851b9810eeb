"""Plan files."""

from pathlib import Path

import pytest

from benchmarks.errors import UserError
from benchmarks.plan import Quarantined, RoundPlan, load_plan, parse_gib, write_plan
from workloads.record import Case, Design

PLAN = RoundPlan(
    tag="v1",
    digest="0" * 64,
    expected={"flashinfer-python": "0.6.1"},
    cases=(Case("a", "sdpa"), Case("b", "sdpa")),
    tier="custom",
    campaign="c1",
    directory="/rounds",
    machine="h200",
    quick=True,
    kv_memory_gib=1.5,
    quarantine=(Quarantined(Case("b", "sdpa"), "killed its process with SIGABRT"),),
    view=False,
    design=Design("c1", "screen-1", ("v1", "v2"), 2, 4),
)


def test_a_plan_survives_its_file(tmp_path: Path) -> None:
    """What is written is what is read."""
    write_plan(PLAN, tmp_path / "plan.json")
    assert load_plan(tmp_path / "plan.json") == PLAN


@pytest.mark.parametrize(
    "content", [b"", b"{", b"{}", b'{"tag": 1}', b"\xff\xfe", b'{"surprise": true}']
)
def test_what_is_no_plan_is_one_line(tmp_path: Path, content: bytes) -> None:
    """A cut, empty or foreign file is named."""
    path = tmp_path / "plan.json"
    path.write_bytes(content)
    with pytest.raises(UserError, match="is no plan") as caught:
        load_plan(path)
    assert str(path) in str(caught.value)


def test_a_field_of_another_version_is_refused(tmp_path: Path) -> None:
    """An unknown field may change what is to be measured, so it is not ignored."""
    path = tmp_path / "plan.json"
    write_plan(PLAN, path)
    path.write_bytes(path.read_bytes().replace(b'"tier"', b'"level":1,"tier"'))
    with pytest.raises(UserError, match="level"):
        load_plan(path)


def test_a_missing_plan_is_one_line(tmp_path: Path) -> None:
    """A file that is not there is no plan."""
    with pytest.raises(UserError, match="is no plan"):
        load_plan(tmp_path / "none.json")


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "much", ""])
def test_an_amount_of_memory_is_positive(text: str) -> None:
    """What is no positive number of GiB is quoted."""
    with pytest.raises(ValueError, match=f"'{text}' is no positive number"):
        parse_gib(text)


def test_an_amount_of_memory() -> None:
    """GiB may be broken ones."""
    assert parse_gib("1.5") == 1.5
