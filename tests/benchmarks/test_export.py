"""asv's results made from synthetic rounds."""

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks import asv_results
from benchmarks.asv_results import write_results
from benchmarks.errors import UserError
from benchmarks.export import select_rounds
from benchmarks.rounds import QUICK
from benchmarks.stacks import Stack
from tests.benchmarks.synthetic import measured, stack, synthetic_round
from workloads.catalog import cases
from workloads.record import Case, CaseRecord, Round, Status

STACKS = (stack("v0.6.0", 1), stack("v0.6.1", 2))
ENTRIES = [e for e in cases("gate") if e.family == "decode-sweep"]
FAST, SKIPPED, FAILED = (e.case for e in ENTRIES[:3])
ROOT = Path(__file__).parents[2]


def rounds_of(of: Stack, factor: float, *, broken: bool = False) -> list[Round]:
    third = CaseRecord(FAILED, Status.FAILED, "raised") if broken else measured(FAILED, 50.0)
    return [
        synthetic_round(
            of,
            (
                measured(FAST, (100 + number) * factor, 20.0),
                CaseRecord(SKIPPED, Status.SKIPPED, "not built"),
                third,
            ),
            number=number + (10 if broken else 0),
        )
        for number in range(5)
    ]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export of five rounds a stack; the second one is 20 % slower and lost a cell."""
    where = tmp_path_factory.mktemp("export")
    export(where)
    return where


def export(where: Path) -> None:
    rounds = rounds_of(STACKS[0], 1.0) + rounds_of(STACKS[1], 1.2, broken=True)
    kept = select_rounds(reversed(rounds), STACKS)
    assert kept.notes == ()
    write_results(
        kept.rounds, STACKS, tier="gate", ledger=where / "ledger", results=where / "results"
    )


def rows(place: Path, tag: str) -> Mapping[str, dict[str, Any]]:
    """Return asv's row of each benchmark of a stack, by column."""
    git = ["git", "-C", str(place / "ledger"), "rev-parse", tag]
    commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    (file,) = (place / "results" / "synthetic").glob(f"{commit[:8]}-*.json")
    stored = json.loads(file.read_text())
    assert stored["commit_hash"] == commit
    columns = stored["result_columns"]
    return {name: dict(zip(columns, row, strict=False)) for name, row in stored["results"].items()}


def test_one_sample_a_round_in_seconds(place: Path) -> None:
    """Five rounds are five samples, in order of time, and the result is their median."""
    row = rows(place, "v0.6.0")["decode.DecodeSweep.track_kernel_time"]
    assert row["params"] == [[repr(str(c)) for c in (FAST, SKIPPED, FAILED)]]
    assert row["samples"][0] == pytest.approx([1.00e-4, 1.01e-4, 1.02e-4, 1.03e-4, 1.04e-4])
    assert row["result"][0] == pytest.approx(1.02e-4)
    assert row["version"] == "1"


def test_skipped_is_nan_and_failed_is_null(place: Path) -> None:
    """asv's own words for the two: NaN for skipped, null for failed."""
    result = rows(place, "v0.6.1")["decode.DecodeSweep.track_kernel_time"]["result"]
    assert math.isnan(result[1])
    assert result[2] is None


def test_plan_time_is_there_where_there_is_a_plan(place: Path) -> None:
    """Only the cell with plan() times has a plan() row."""
    row = rows(place, "v0.6.0")["decode.DecodeSweep.track_plan_time"]
    assert row["params"] == [[repr(str(FAST))]]
    assert row["result"] == [pytest.approx(2e-5)]


def test_the_benchmark_list_is_what_discovery_yields(place: Path) -> None:
    """Every exported row is a benchmark that asv would discover, with its version."""
    listed = json.loads((place / "results" / "benchmarks.json").read_text())
    for tag in ("v0.6.0", "v0.6.1"):
        for name, row in rows(place, tag).items():
            assert listed[name]["version"] == row["version"]
            assert listed[name]["unit"] == "seconds"
            assert set(row["params"][0]) <= set(listed[name]["params"][0])


def test_exporting_again_changes_no_byte(place: Path) -> None:
    """The same rounds give the same files, whatever asv left there before."""
    before = {p: p.read_bytes() for p in (place / "results").rglob("*.json")}
    (place / "results" / "synthetic" / "stale-stack-pyhost.json").write_text("{}")
    export(place)
    assert {p: p.read_bytes() for p in (place / "results").rglob("*.json")} == before


def test_a_failing_export_loses_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old results stay whole until all new ones are written, and the error is one line."""
    before = {p: p.read_bytes() for p in place.rglob("results/**/*.json")}
    broken = place / "no_script.py"
    monkeypatch.setattr(asv_results, "asv_script", str(broken))
    with pytest.raises(UserError, match=r"asv finds no benchmarks: .*no_script") as caught:
        export(place)
    assert "\n" not in str(caught.value)
    assert {p: p.read_bytes() for p in place.rglob("results/**/*.json")} == before
    assert sorted(p.name for p in place.iterdir()) == ["ledger", "results"]


def test_half_written_results_are_cured(place: Path) -> None:
    """The next export replaces what an interrupted one or a foreign hand left."""
    before = {p: p.read_bytes() for p in place.rglob("results/**/*.json")}
    for path in before:
        path.write_text("{")
    shutil.rmtree(place / "results" / "synthetic")
    (place / "results" / "synthetic").write_text("no folder")
    export(place)
    assert {p: p.read_bytes() for p in place.rglob("results/**/*.json")} == before


def test_results_that_cannot_be_written_are_one_line(tmp_path: Path) -> None:
    """The error names the path."""
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"cannot write asv's results: .*/file") as caught:
        write_results({}, STACKS, ledger=tmp_path / "ledger", results=tmp_path / "file" / "results")
    assert "\n" not in str(caught.value)


def test_asv_compares_the_export(place: Path, tmp_path: Path) -> None:
    """Unmodified asv, with a fresh home, shows the slower cell and the lost one."""
    config = {
        "version": 1,
        "project": "attention",
        "repo": str(place / "ledger"),
        "branches": ["main"],
        "results_dir": str(place / "results"),
        "environment_type": "virtualenv",
    }
    (tmp_path / "asv.conf.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "asv", "compare", "--config", str(tmp_path / "asv.conf.json")]
    command += ["--machine", "synthetic", "v0.6.0", "v0.6.1"]
    environment = os.environ | {"HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if "track_kernel_time" in line]
    slower, lost = (next(s for s in lines if str(c) in s) for c in (FAST, FAILED))
    assert slower.startswith("| +")
    assert "1.2" in slower
    assert lost.startswith("| !")


def test_what_cannot_stand_side_by_side_is_left_out() -> None:
    """Quick rounds, old protocols, unknown stacks and changed pins are named and left out."""
    changed = stack("v0.6.1", 2, {"flashinfer-python": "0.6.2"})
    kept = select_rounds(
        [
            synthetic_round(STACKS[0], number=0, protocol=2),
            synthetic_round(STACKS[0], number=1, protocol=2, warnings=(QUICK,)),
            synthetic_round(STACKS[0], number=2, protocol=1),
            synthetic_round(stack("v9"), number=3, protocol=2),
            synthetic_round(changed, number=4, protocol=2),
        ],
        STACKS,
    )
    assert [r.id for r in kept.rounds["synthetic"]["v0.6.0"]] == ["id0"]
    assert list(kept.rounds["synthetic"]) == ["v0.6.0"]
    assert [note.partition("they ")[2] for note in kept.notes] == [
        "are quick ones, which are no results",
        "have an older protocol than 2",
        "belong to stacks that are not in the list",
        "belong to a stack whose pins are other ones now",
    ]


def test_a_tier_can_be_chosen_and_machines_stay_apart() -> None:
    """Rounds of other tiers are not exported; each machine has its own results."""
    kept = select_rounds(
        [
            synthetic_round(STACKS[0], number=0, machine="a", tier="nightly"),
            synthetic_round(STACKS[0], number=1, machine="b", tier="nightly"),
            synthetic_round(STACKS[0], number=2, machine="a", tier="gate"),
        ],
        STACKS,
        tier="nightly",
    )
    ids = {m: [r.id for r in by["v0.6.0"]] for m, by in kept.rounds.items()}
    assert ids == {"a": ["id0"], "b": ["id1"]}


def test_a_cell_outside_the_catalog_has_no_benchmark(tmp_path: Path) -> None:
    """A hand-picked case is kept in its round file but is no asv benchmark."""
    picked = synthetic_round(STACKS[0], (measured(Case("custom", "scripted"), 1.0),))
    write_results(
        {"synthetic": {"v0.6.0": (picked,)}},
        STACKS,
        ledger=tmp_path / "ledger",
        results=tmp_path / "results",
    )
    assert rows(tmp_path, "v0.6.0") == {}
