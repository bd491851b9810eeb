"""Waivers in a whole check."""

from pathlib import Path

import pytest

from regress.errors import ExitCode
from regress.model.report import CheckReport
from regress.model.verdict import Verdict
from regress.model.waiver import Waivers, WaiverState
from regress.pipeline.accept import pinned
from regress.pipeline.check import check
from regress.pipeline.request import Request
from regress.store.tree import STACKS_FILE
from tests.regress.builders import CASE, CONFIG, OTHER, WORKLOAD, rounds_of, write_rounds
from tests.regress.report.samples import QUIET, TODAY, mixed, waiver
from workloads.record import Case

SLOW = tuple(t * 1.1 for t in QUIET)


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """Rounds of an ad-hoc stack that is slower in one of two cases."""
    write_rounds(tmp_path, rounds_of("v1", {CASE: QUIET, OTHER: QUIET}))
    write_rounds(tmp_path, rounds_of("v2", {CASE: SLOW, OTHER: QUIET}))
    return tmp_path


def _check(root: Path, *, pattern: str | None = None, **fields: object) -> CheckReport:
    known = Waivers("waivers.toml", (waiver(**fields),), TODAY)
    return check("v1", "v2", Request((root,), None, "any", pattern, "made up", known), CONFIG)


def test_a_waived_regression_passes_under_its_name(slow: Path) -> None:
    """The run says WAIVED, the report has the waiver and the finding that it took."""
    report = _check(slow)
    assert (report.verdict, report.exit_code) == (Verdict.WAIVED, ExitCode.PASS)
    assert [f.verdict for f in report.findings if f.waived == 1] == [Verdict.REGRESSION]
    assert (report.waiver_file, report.waivers[0].state) == ("waivers.toml", WaiverState.APPLIED)
    assert {cell.case: cell.verdict for cell in report.cells}[OTHER] is Verdict.SAME


def test_without_waivers_nothing_is_said_of_them(slow: Path) -> None:
    """A request without a file has no waivers in its report."""
    report = check("v1", "v2", Request((slow,), None, "any", None, "made up"), CONFIG)
    assert (report.exit_code, report.waiver_file, report.waivers) == (1, None, ())


def test_narrowing_with_cells_makes_no_waiver_too_broad(slow: Path) -> None:
    """The share is one of all cases that the rounds hold, not of those that --cells leaves."""
    narrowed = _check(slow, pattern="tc-auto")
    assert narrowed.exit_code is ExitCode.PASS
    elsewhere = _check(slow, pattern="tc-fa2")
    assert elsewhere.waivers[0].state is WaiverState.ELSEWHERE


def test_the_share_is_one_of_all_cases_that_the_rounds_hold(tmp_path: Path) -> None:
    """A waiver for two of eight cases is narrow, also where --cells leaves only those two."""
    cases = [Case(WORKLOAD, f"made-up-{n}") for n in range(8)]
    write_rounds(tmp_path, rounds_of("v1", dict.fromkeys(cases, QUIET)))
    write_rounds(tmp_path, rounds_of("v2", dict.fromkeys(cases, SLOW)))
    report = _check(tmp_path, pattern="made-up-[01]", cells="made-up-[01]")
    assert (report.exit_code, report.waivers[0].waived) == (ExitCode.PASS, 2)


def test_a_pattern_that_fits_the_whole_catalog_is_too_broad(slow: Path) -> None:
    """However few cases the rounds hold, the catalog says how much a pattern fits."""
    report = _check(slow, pattern="tc-auto", cells="@flashinfer|@fa3")
    assert (report.exit_code, report.waivers[0].state) == (1, WaiverState.TOO_BROAD)


def test_missing_data_keeps_its_exit_code(tmp_path: Path) -> None:
    """With everything red waived, cases without data still end the run with 4."""
    both = waiver(), waiver(cells="decode-cuda$", verdicts=(Verdict.GONE,))
    report = mixed(tmp_path, both)
    assert {use.state for use in report.waivers} == {WaiverState.APPLIED}
    assert report.exit_code is ExitCode.NO_DATA


def test_published_stacks_are_found_in_their_list() -> None:
    """The line given is that of the tag; an ad-hoc stack has none."""
    found = pinned("v0.6.1")
    assert found is not None
    assert found.file == "benchmarks/stacks.toml"
    assert STACKS_FILE.read_text().splitlines()[found.line - 1] == 'tag = "v0.6.1"'
    assert pinned("mine") is None
