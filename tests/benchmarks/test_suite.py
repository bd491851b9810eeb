"""What asv is shown, and how rounds answer its requests."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from asv.benchmark import __file__ as asv_script
from asv_runner.benchmarks.mark import SkipNotImplemented

from benchmarks._suite import CLASSES, Selection, Session, _answer, load_selection
from benchmarks.errors import UserError
from tests.benchmarks.synthetic import measured, stack, synthetic_round
from workloads.catalog import FAMILIES, cases
from workloads.record import Case, CaseRecord, Round, Status

ROOT = Path(__file__).parents[2]
A, B = Case("a", "x"), Case("b", "x")


class Rounds:
    """Counts rounds; each is slower than the one before."""

    def __init__(self, problem: Exception | None = None) -> None:
        self.count = 0
        self.problem = problem

    def __call__(self) -> Round:
        self.count += 1
        if self.problem:
            raise self.problem
        records = tuple(measured(case, float(self.count)) for case in (A, B))
        return synthetic_round(stack("v1"), records, number=self.count)


def ask(session: Session, requests: Sequence[tuple[str, Case]]) -> list[float | None]:
    return [session.record(name, str(case)).time_us for name, case in requests]


def test_one_round_answers_every_request_once() -> None:
    """Both tracks of all cells are read from the round that the first request measured."""
    rounds = Rounds()
    every = [("kernel", A), ("kernel", B), ("plan", A), ("plan", B)]
    assert ask(Session(rounds), every) == [1.0] * 4
    assert rounds.count == 1


def test_a_repeated_request_is_the_next_round() -> None:
    """Asv's second round measures again instead of repeating the first one's numbers."""
    rounds = Rounds()
    requests = [("kernel", A), ("kernel", B)]
    assert ask(Session(rounds), [*requests, *requests, *requests]) == [1, 1, 2, 2, 3, 3]
    assert rounds.count == 3


def test_a_round_that_cannot_be_measured_is_tried_once() -> None:
    """Every cell fails with the reason, without another attempt until asv asks again."""
    rounds = Rounds(UserError("no such stack"))
    session = Session(rounds)
    for case in (A, B):
        with pytest.raises(RuntimeError, match="no round: no such stack"):
            session.record("kernel", str(case))
    assert rounds.count == 1
    with pytest.raises(RuntimeError):
        session.record("kernel", str(A))
    assert rounds.count == 2


def test_a_cell_that_the_round_lacks_fails() -> None:
    """A missing cell is an error, never a number."""
    with pytest.raises(RuntimeError, match="the round has no cell c@x"):
        Session(Rounds()).record("kernel", "c@x")


def test_a_measured_cell_is_one_sample_in_seconds() -> None:
    """asv gets a sample, not a statistic."""
    answer = _answer(measured(A, 2.5), 2.5, "kernel time")
    assert answer == {"samples": [pytest.approx(2.5e-6)], "number": 1}


@pytest.mark.parametrize(
    "record", [CaseRecord(A, Status.SKIPPED, "not built"), measured(A, 1.0)], ids=["skip", "plan"]
)
def test_a_skipped_cell_or_a_missing_plan_is_skipped(record: CaseRecord) -> None:
    """An unsupported cell, and plan() of a backend without one, are not failures."""
    with pytest.raises(SkipNotImplemented, match=r"not built|no plan\(\)"):
        _answer(record, record.plan_time_us, "plan()")


@pytest.mark.parametrize("status", [Status.FAILED, Status.QUARANTINED])
def test_a_failed_cell_fails_with_its_reason(status: Status) -> None:
    """asv is told that it failed, and its log why."""
    with pytest.raises(RuntimeError, match=f"{status}: it raised"):
        _answer(CaseRecord(A, status, "it raised"), None, "kernel time")


def test_a_selection_is_a_tier() -> None:
    """Without further wishes a round covers its tier, under the tier's name."""
    assert Selection("gate").measured() == tuple(e.case for e in cases("gate"))
    assert Selection("gate").label == "gate"


def test_asv_expressions_narrow_the_round() -> None:
    """`-b` selects cells as asv shows them, and the round is then a hand-picked one."""
    chosen = Selection("gate", bench=(r"DecodeSweep.*b66-skew40.*fa2'\)",))
    assert chosen.label == "custom"
    assert chosen.measured()
    for case in chosen.measured():
        assert "b66-skew40" in case.workload
        assert case.backend.endswith("fa2")
    assert chosen.offered() == cases("gate")


def test_cells_narrow_what_asv_is_shown() -> None:
    """ATTN_CELLS works on `workload@backend`."""
    offered = Selection("gate", cells="@sdpa$").offered()
    assert {e.case.backend for e in offered} == {"sdpa"}


def test_the_environment_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tier or expression that cannot be is one line."""
    monkeypatch.setenv("ATTN_TIER", "huge")
    with pytest.raises(UserError, match="ATTN_TIER is 'huge': use one of gate"):
        load_selection()
    monkeypatch.setenv("ATTN_TIER", "sweep")
    for cells in ("(", "a{99999999999}", "(" * 9999):
        monkeypatch.setenv("ATTN_CELLS", cells)
        with pytest.raises(UserError, match="ATTN_CELLS is no regular expression"):
            load_selection()
    monkeypatch.setenv("ATTN_CELLS", "x")
    monkeypatch.setenv("ATTN_BENCH", '["a"]')
    monkeypatch.setenv("ATTN_QUICK", "1")
    assert load_selection() == Selection("sweep", "x", ("a",), quick=True)


def test_discovery_shows_every_cell_in_its_family(tmp_path: Path) -> None:
    """asv discovers two tracks a family and nothing else, and together they hold the tier."""
    listed = tmp_path / "found.json"
    command = [sys.executable, asv_script, "discover", str(ROOT / "benchmarks"), str(listed)]
    subprocess.run(command, check=True, env=os.environ | {"ATTN_TIER": "nightly"}, cwd=tmp_path)
    found = {b["name"]: b for b in json.loads(listed.read_text())}
    tracks = ("track_kernel_time", "track_plan_time")
    assert set(CLASSES) == set(FAMILIES)
    assert set(found) == {f"{name}.{track}" for name in CLASSES.values() for track in tracks}
    for track in tracks:
        shown = [p for n, b in found.items() if n.endswith(track) for p in b["params"][0]]
        assert sorted(shown) == sorted(repr(str(e.case)) for e in cases("nightly"))
    for benchmark in found.values():
        assert (benchmark["type"], benchmark["unit"]) == ("time", "seconds")
        assert benchmark["timeout"] == 3600


def test_nothing_heavy_is_imported(tmp_path: Path) -> None:
    """The modules that asv imports leave torch and the libraries under test alone."""
    code = (
        "import sys, pkgutil, importlib, benchmarks\n"
        "for m in pkgutil.walk_packages(benchmarks.__path__, 'benchmarks.'):\n"
        "    importlib.import_module(m.name)\n"
        "heavy = {'torch', 'flashinfer', 'fa3_fwd_interface', 'flash_attn', 'triton'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    blocked = tmp_path / "torch.py"
    blocked.write_text("raise ImportError('torch was imported')")
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"
