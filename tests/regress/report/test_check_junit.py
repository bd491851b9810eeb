"""`check` as JUnit XML, read by a JUnit reader."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase

from regress.errors import ExitCode
from regress.gate import gate
from regress.model.report import CellVerdict, CheckReport
from regress.model.verdict import Verdict, exit_code_of
from regress.report.check_junit import render_check_junit
from regress.report.view import View
from tests.regress.builders import CASE, OTHER
from tests.regress.report.samples import (
    ACCEPTED,
    CUDA,
    FA3,
    HOSTILE,
    PAGED,
    SERVING,
    SPLITS,
    bare,
    mixed,
)
from workloads.record import Case


def _read(report: CheckReport) -> JUnitXml:
    return JUnitXml.fromstring(render_check_junit(report, View()).encode())


def _tests(report: CheckReport) -> dict[str, TestCase]:
    return {test.name: test for suite in _read(report) for test in suite}


def _kinds(test: TestCase) -> list[type]:
    return [type(result) for result in test.result]


def test_a_file_opens_in_a_reader(tmp_path: Path) -> None:
    """A suite a family and one for the run, with counts that a reader finds right by itself."""
    report = mixed(tmp_path)
    target = tmp_path / "junit.xml"
    target.write_text(render_check_junit(report, View()), encoding="utf-8")
    xml = JUnitXml.fromfile(str(target))
    assert [suite.name for suite in xml] == ["gate", "decode-sweep", "unmeasured"]
    told = (xml.tests, xml.failures, xml.errors, xml.skipped)
    xml.update_statistics()
    assert told == (xml.tests, xml.failures, xml.errors, xml.skipped) == (9, 3, 2, 1)


@pytest.mark.parametrize(
    ("case", "kind", "verdict"),
    [
        (CASE, Failure, "REGRESSION"),
        (CUDA, Failure, "GONE"),
        (SPLITS, Error, "UNDECIDED"),
        (SERVING, Error, "NO_DATA"),
        (PAGED, Skipped, "unmeasured"),
    ],
)
def test_what_is_not_good_is_not_passed(
    tmp_path: Path, case: Case, kind: type, verdict: str
) -> None:
    """Worse is a failure, not shown is an error, measured nowhere is skipped."""
    (result,) = _tests(mixed(tmp_path))[str(case)].result
    assert (type(result), result.type) == (kind, verdict)


@pytest.mark.parametrize("case", [OTHER, FA3])
def test_good_cases_pass(tmp_path: Path, case: Case) -> None:
    """SAME and NEW are tests without any result."""
    assert _kinds(_tests(mixed(tmp_path))[str(case)]) == []


def test_a_test_says_what_the_text_says(tmp_path: Path) -> None:
    """The time is head's median in seconds, and the evidence stands in the failure."""
    test = _tests(mixed(tmp_path))[str(CASE)]
    assert (test.classname, test.time) == ("decode-sweep", pytest.approx(400e-6))
    assert "resolved_backend fa2 -> fa3" in test.result[0].text
    assert test.result[0].message.startswith("REGRESSION: slower beyond")


def test_a_waived_case_is_skipped_with_its_owner(tmp_path: Path) -> None:
    """Neither passed nor failed: the reader sees who accepts it, why, and what it is."""
    test = _tests(mixed(tmp_path, ACCEPTED))[str(CASE)]
    (result,) = test.result
    assert (type(result), result.type) == (Skipped, "WAIVED")
    assert "accepted by serving until 2026-03-01: auto is not used here" in result.message
    assert "slower beyond" in (test.system_out or "")


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    """Markup, control characters and ends of CDATA in a reason come back as they are shown."""
    test = _tests(mixed(tmp_path, reason=HOSTILE))[str(CUDA)]
    assert "<script>x</script>" in test.result[0].message
    assert r"\x1b[31m \x00" in test.result[0].message


@given(st.text(max_size=30))
def test_any_text_is_valid_xml(text: str) -> None:
    """Whatever characters a warning holds, XML 1.0 can hold what is written of it."""
    assert _tests(bare(warnings=(text,), command=text))


@given(verdicts=st.lists(st.sampled_from(Verdict), max_size=4), fails=st.booleans())
def test_a_reader_sees_red_if_and_only_if_the_exit_code_is_not_0(
    *, verdicts: list[Verdict], fails: bool
) -> None:
    """Failures and errors stand for the exit code, whatever the cells are; no cell is no pass."""
    cells = tuple(CellVerdict(Case("w", str(n)), "f", v) for n, v in enumerate(verdicts))
    verdict, code = gate(cells, variance_fails=fails)
    fields = {"verdict": verdict, "exit_code": code, "variance_fails": fails}
    xml = _read(bare(cells=cells, **fields))
    assert bool(xml.failures + xml.errors) == (code is not ExitCode.PASS)
    red = sum(exit_code_of(v, variance_fails=fails) is not ExitCode.PASS for v in verdicts)
    assert xml.failures + xml.errors == red + (code is not ExitCode.PASS)
