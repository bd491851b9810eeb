"""The recorded runs of `ab` on an H200, judged again."""

from functools import cache

import pytest

from regress.cli import main
from regress.config import load_config
from regress.errors import ExitCode
from regress.model.report import CheckReport
from regress.model.verdict import Verdict
from regress.pipeline.recorded import load_recorded
from regress.pipeline.request import ANY_TIER

GATE_S, NIGHTLY_S = 180.0, 300.0
"""What a run in which nothing changed may take."""


@cache
def _runs() -> tuple[CheckReport, ...]:
    return load_recorded().runs


def _of(base: str, head: str) -> list[CheckReport]:
    return [run for run in _runs() if (run.base, run.head) == (base, head)]


def test_byte_identical_stacks_are_the_same_in_time() -> None:
    """Gate and nightly tier end 0 with every measured cell SAME, in the time allowed."""
    runs = [run for run in _of("v0.6.0", "v0.6.1") if run.tier != ANY_TIER]
    assert {run.tier for run in runs} == {"gate", "nightly"}
    for report in runs:
        assert report.run
        assert report.exit_code is ExitCode.PASS
        assert {cell.verdict for cell in report.cells} == {Verdict.SAME}
        assert report.run.elapsed_s <= (GATE_S if report.tier == "gate" else NIGHTLY_S)


def test_auto_decode_got_slower_because_its_backend_changed() -> None:
    """From 0.5.3 to 0.6.0 every REGRESSION is decode on `auto`, which went from fa2 to fa3."""
    (report,) = _of("v0.5.3", "v0.6.0")
    assert report.exit_code is ExitCode.REGRESSION
    slower = [f for f in report.findings if f.verdict is Verdict.REGRESSION and f.gates]
    assert len(slower) >= 8
    for finding in slower:
        assert finding.series.case.backend.startswith("flashinfer-decode-tc-auto")
        changes = {change.name: (change.base, change.head) for change in finding.evidence}
        assert changes["resolved_backend"] == ("fa2", "fa3")
        assert "cubin" in changes
        assert finding.measured
        assert finding.measured.cycles
        assert finding.measured.p_adjusted is not None
        assert finding.measured.p_adjusted <= load_config().ab.family_alpha


def test_a_run_that_was_killed_went_on() -> None:
    """After kill -9 in its third round the same command completed it, without that round."""
    (report,) = (run for run in _runs() if run.tier == ANY_TIER)
    assert report.run
    assert report.exit_code is ExitCode.PASS
    assert len(report.run.campaigns) == 2
    assert len(report.run.leftovers) == 1
    used = {id_ for f in report.findings if f.measured for id_ in (*f.rounds.base, *f.rounds.head)}
    assert len(report.rounds.base) + len(report.rounds.head) == len(used) + 1


@pytest.mark.parametrize("number", range(3))
def test_every_floor_rests_on_known_noise(number: int) -> None:
    """No judged time of a recorded run has a floor for want of noise."""
    report = _runs()[number]
    unknown = [f for f in report.findings if f.measured and f.gates and f.measured.noise is None]
    assert unknown == []


def test_a_family_is_not_judged_by_a_run_of_more() -> None:
    """What narrows the cells asks for a run of just these: the wider one's pass is not shown."""
    assert main(["ab", "v0.6.0", "v0.6.1", "--recorded", "--family", "fp8-kv"]) == 4


def test_a_pass_of_a_family_says_what_it_is_about(capsys: pytest.CaptureFixture[str]) -> None:
    """It does not call the stack safe to take."""
    assert main(["check", "v0.6.0", "v0.6.1", "--recorded", "--family", "fp8-kv"]) == 0
    told = capsys.readouterr().out
    assert "cells that were asked for got worse" in told
    assert "safe to take" not in told
