"""`check` as JUnit XML: a suite a family, a test a case, and one for the verdict of the run.

Whatever keeps the exit code from being 0 is a failure (shown worse) or an error (not shown to be
good), which every reader counts as not passed. Waived and unmeasured cases are skipped.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from regress.errors import ExitCode
from regress.model.finding import Finding, Metric
from regress.model.report import CellVerdict, CheckReport, Unmeasured
from regress.model.verdict import Verdict
from regress.report.finding_text import render_finding
from regress.report.headline import render_action, render_scope
from regress.report.printable import printable
from regress.report.run_text import render_certainty
from regress.report.view import View
from regress.report.waived_text import acceptance_of, render_waiver_findings
from workloads.record import Case

__all__ = ["render_check_junit"]

_GATE: Final = "gate"
_UNMEASURED: Final = "unmeasured"
_ELEMENTS: Final = {
    ExitCode.REGRESSION: "failure",
    ExitCode.UNDECIDED: "error",
    ExitCode.NO_DATA: "error",
}


def render_check_junit(report: CheckReport, view: View) -> str:
    """Return the report as XML; text that XML cannot hold is escaped, as in the other formats."""
    report = printable(report)
    root = ET.Element("testsuites", name=f"{report.base} -> {report.head}")
    _suite(root, _GATE, [_run(report)])
    found = _by_case(report.findings)
    for family in dict.fromkeys(cell.family for cell in report.cells):
        cells = (cell for cell in report.cells if cell.family == family)
        _suite(root, family, (_cell(c, found.get(c.case, ()), report, view) for c in cells))
    if report.unmeasured:
        _suite(root, _UNMEASURED, map(_skipped, report.unmeasured))
    _count(root, root.iter("testcase"))
    ET.indent(root, " ")
    text: str = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _suite(root: ET.Element, name: str, tests: Iterable[ET.Element]) -> None:
    suite = ET.SubElement(root, "testsuite", name=name)
    for test in tests:
        test.set("classname", name)
        suite.append(test)
    _count(suite, suite)


def _count(element: ET.Element, tests: Iterable[ET.Element]) -> None:
    every = list(tests)
    element.set("tests", str(len(every)))
    for tag, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        element.set(name, str(sum(test.find(tag) is not None for test in every)))
    seconds = (float(test.get("time", "0")) for test in every)
    element.set("time", f"{sum(seconds):.9f}")


def _run(report: CheckReport) -> ET.Element:
    """Return the run's own test: it passes if and only if the exit code is 0."""
    test = ET.Element("testcase", name=f"{report.base} -> {report.head}")
    lines = (
        render_scope(report),
        *render_certainty(report),
        *report.warnings,
        *render_waiver_findings(report),
        f"Reproduce: {report.command}",
    )
    _outcome(test, report.verdict, report.exit_code, render_action(report), lines)
    return test


def _by_case(findings: Iterable[Finding]) -> Mapping[Case, Sequence[Finding]]:
    found: dict[Case, list[Finding]] = {}
    for finding in findings:
        if finding.gates or finding.waived is not None:
            found.setdefault(finding.series.case, []).append(finding)
    return found


def _cell(
    cell: CellVerdict, found: Sequence[Finding], report: CheckReport, view: View
) -> ET.Element:
    test = ET.Element("testcase", name=str(cell.case))
    seconds = [
        f.measured.head_us / 1e6
        for f in found
        if f.measured and f.series.metric is Metric.KERNEL_TIME
    ]
    if seconds:
        test.set("time", f"{seconds[0]:.9f}")
    told = [line.strip() for f in found for line in render_finding(f, view)]
    if cell.verdict is Verdict.WAIVED:
        texts = dict.fromkeys(filter(None, (acceptance_of(f, report) for f in found)))
        ET.SubElement(test, "skipped", type=cell.verdict, message="; ".join(texts))
        ET.SubElement(test, "system-out").text = "\n".join(told)
        return test
    why = next((f.reason.message for f in found if f.verdict is cell.verdict and f.gates), "")
    _outcome(test, cell.verdict, report.code_of(cell.verdict), why, told)
    return test


def _outcome(
    test: ET.Element, verdict: Verdict, code: ExitCode, message: str, lines: Iterable[str]
) -> None:
    """Add what readers count, with the text that they show; to a passed test only the text."""
    text = "\n".join(lines)
    element = _ELEMENTS.get(code)
    if element:
        ET.SubElement(test, element, type=verdict, message=f"{verdict}: {message}").text = text
    else:
        ET.SubElement(test, "system-out").text = f"{verdict}\n{text}"


def _skipped(cell: Unmeasured) -> ET.Element:
    test = ET.Element("testcase", name=str(cell.case))
    why = cell.base if cell.base == cell.head else f"base {cell.base}; head {cell.head}"
    ET.SubElement(test, "skipped", type="unmeasured", message=why)
    return test
