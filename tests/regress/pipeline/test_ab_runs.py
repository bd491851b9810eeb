"""Which run `ab` goes on with or judges, with a made-up laboratory instead of a GPU."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from regress.errors import ExitCode, NoDataError, UsageError
from regress.model.report import CheckReport
from regress.pipeline.ab.ab import Order, ab, judge_run
from regress.pipeline.ab.state import Sought
from regress.store.load import load_round
from tests.regress.builders import write_rounds
from tests.regress.pipeline.lab import CASES, KilledError, Lab, judge, run_ab, sought
from workloads.record import Round


def _files(root: Path) -> list[Path]:
    return sorted(root.rglob("*.json.gz"))


def _sought(root: Path, pattern: str) -> Sought:
    found = sought(root)
    return replace(found, request=replace(found.request, pattern=pattern))


def _ab(lab: Lab, wanted: Sought, run: str) -> CheckReport:
    return ab(wanted, Order(lab.measure, lab.root, run))


def _killed(lab: Lab, rounds: int) -> None:
    lab.rounds_left = rounds
    with pytest.raises(KilledError):
        run_ab(lab)
    lab.rounds_left = 1000


def _other_torch(found: Round) -> Round:
    machine = msgspec.structs.replace(found.machine, torch="2.12.0")
    return msgspec.structs.replace(found, machine=machine)


def test_a_run_goes_on_although_other_cells_were_measured_since(tmp_path: Path) -> None:
    """The same command completes its own run, not only the latest."""
    lab = Lab(tmp_path)
    _killed(lab, 3)
    other = _sought(tmp_path, str(CASES[0]).replace(".", r"\."))
    assert _ab(lab, other, "other").exit_code is ExitCode.PASS
    report = run_ab(lab, run="third")
    assert report.run
    assert report.run.id == "run1"


def test_a_run_on_two_set_ups_is_refused(tmp_path: Path) -> None:
    """Another torch in a later stretch is named, and nothing is measured on top of it."""
    lab = Lab(tmp_path)
    _killed(lab, 4)
    for path in _files(tmp_path):
        write_rounds(tmp_path, [_other_torch(load_round(path))])
    with pytest.raises(UsageError, match=r"torch \(2.12.0 against 2.11.0\).*--new"):
        run_ab(lab)
    measured = len(_files(tmp_path))
    with pytest.raises(UsageError, match="different set-ups"):
        run_ab(lab)
    with pytest.raises(UsageError, match="different set-ups"):
        judge(tmp_path)
    assert len(_files(tmp_path)) == measured
    assert run_ab(lab, run="run2", anew=True).exit_code is ExitCode.PASS


def test_a_later_stretch_never_takes_a_used_name(tmp_path: Path) -> None:
    """Rounds of different days stay in different campaigns, whatever files were lost."""
    lab = Lab(tmp_path)
    _killed(lab, 2)
    _killed(lab, 4)
    for path in _files(tmp_path):
        if load_round(path).campaign == "run1":
            path.unlink()
    report = run_ab(lab)
    assert report.run
    assert report.run.campaigns == ("run1~2", "run1~3")


def test_only_a_run_of_just_these_cells_is_judged_if_cells_are_named(tmp_path: Path) -> None:
    """The latest run is no answer to a question about other cells."""
    run_ab(Lab(tmp_path))
    assert judge_run(sought(tmp_path), None, narrowed=True).exit_code is ExitCode.PASS
    other = _sought(tmp_path, str(CASES[0]).replace(".", r"\."))
    for run in (None, "run1"):
        with pytest.raises(NoDataError, match="just these cells"):
            judge_run(other, run, narrowed=True)


def test_an_empty_id_is_no_run(tmp_path: Path) -> None:
    """A script's empty variable does not mean the latest run."""
    run_ab(Lab(tmp_path))
    with pytest.raises(NoDataError, match="no run ''"):
        judge(tmp_path, "")


def test_one_stack_twice_is_usage(tmp_path: Path) -> None:
    """Judging a stack against itself is refused as measuring it is."""
    with pytest.raises(UsageError, match="name two stacks"):
        judge_run(replace(sought(tmp_path), head=sought(tmp_path).base), None)
