"""`check` as SARIF 2.1.0, for code scanning.

A result is placed at the line that pins head, because that line is what somebody can change.
"""

import hashlib
from typing import Any, Final

import msgspec

from regress.errors import ExitCode
from regress.model.finding import Finding
from regress.model.reason import REASONS, Explanation, ReasonCode
from regress.model.report import CheckReport
from regress.model.verdict import EXIT_CODES, Verdict
from regress.report.finding_text import render_evidence, render_figures
from regress.report.printable import printable
from regress.report.run_text import render_certainty
from regress.report.view import View
from regress.report.waived_text import acceptance_of, render_waiver_findings

__all__ = ["render_check_sarif"]

_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_NAME: Final = "attention-regress"
_STACKS: Final = "benchmarks/stacks.toml"
_QUIET: Final = (Verdict.SAME, Verdict.IMPROVEMENT, Verdict.NEW)
_LEVELS: Final = {
    ExitCode.REGRESSION: "error",
    ExitCode.NO_DATA: "warning",
    ExitCode.UNDECIDED: "warning",
    ExitCode.PASS: "note",
}
_RULES: Final = {code: known for code, known in REASONS.items() if known.verdict not in _QUIET}
_Json = dict[str, Any]


def render_check_sarif(report: CheckReport, view: View) -> str:
    """Return the report as SARIF."""
    report = printable(report)
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(report, view)]}
    return msgspec.json.format(msgspec.json.encode(log), indent=1).decode() + "\n"


def _run(report: CheckReport, view: View) -> _Json:
    shown = [
        f for f in report.findings if (f.gates or f.waived is not None) and f.verdict not in _QUIET
    ]
    return {
        "tool": {
            "driver": {"name": _NAME, "rules": [_rule(c, known) for c, known in _RULES.items()]}
        },
        # Alerts close when a later run of the same category no longer has them.
        "automationDetails": {"id": f"{_NAME}/{report.machine}/{report.tier}/"},
        "invocations": [_invocation(report)],
        "results": [_result(f, report, view) for f in shown],
    }


def _rule(code: ReasonCode, known: Explanation) -> _Json:
    return {
        "id": code,
        "name": known.verdict,
        "shortDescription": _message(known.meaning),
        "help": _message(known.remedy),
        "defaultConfiguration": {"level": _LEVELS[EXIT_CODES[known.verdict]]},
    }


def _invocation(report: CheckReport) -> _Json:
    lines = (*report.warnings, *render_waiver_findings(report))
    return {
        "executionSuccessful": True,
        "commandLine": report.command,
        "exitCode": int(report.exit_code),
        "exitCodeDescription": report.verdict,
        "toolExecutionNotifications": [
            *({"level": "warning", "message": _message(line)} for line in lines),
            *({"level": "note", "message": _message(line)} for line in render_certainty(report)),
        ],
    }


def _result(finding: Finding, report: CheckReport, view: View) -> _Json:
    code = finding.reason.code
    result = {
        "ruleId": code,
        "ruleIndex": list(_RULES).index(code),
        "level": _LEVELS[report.code_of(finding.verdict)],
        "message": _message(_told(finding, report, view)),
        "locations": [_location(finding, report)],
        "partialFingerprints": _fingerprints(finding),
        "properties": _properties(finding, report),
    }
    if finding.waived is not None:
        told = acceptance_of(finding, report)
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": told}]
    return result


def _told(finding: Finding, report: CheckReport, view: View) -> str:
    pair = f"{finding.verdict} {report.base} -> {report.head}: {finding.series.case}"
    figures = render_figures(finding)
    texts = (finding.reason.message, *render_evidence(finding, view))
    return "; ".join((", ".join((pair, *figures)), *texts))


def _location(finding: Finding, report: CheckReport) -> _Json:
    """Return the line of head's pins; for an ad-hoc stack the top of the list of stacks."""
    pinned = report.pinned
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": pinned.file if pinned else _STACKS},
            "region": {"startLine": pinned.line if pinned else 1},
        },
        "logicalLocations": [
            {
                "name": finding.series.case.workload,
                "fullyQualifiedName": str(finding.series.case),
                "kind": "resource",
            }
        ],
    }


def _fingerprints(finding: Finding) -> dict[str, str]:
    """Return what tells results apart over runs and stacks, where lines and figures change.

    GitHub looks at `primaryLocationLineHash` only. Made from the line, as it would be made if it
    were missing, it would take all cases of a stack for one.
    """
    series = finding.series
    text = f"{series.case}|{series.metric}|{finding.reason.code}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    return {"primaryLocationLineHash": digest, "caseMetricReason/v1": digest}


def _properties(finding: Finding, report: CheckReport) -> _Json:
    return {
        "base": report.base,
        "head": report.head,
        "verdict": finding.verdict,
        "family": finding.family,
        "metric": finding.series.metric,
        "measured": msgspec.to_builtins(finding.measured),
        "evidence": msgspec.to_builtins(finding.evidence),
        "rounds": msgspec.to_builtins(finding.rounds),
        "waiver": finding.waived,
    }


def _message(text: str) -> dict[str, str]:
    return {"text": _plain(text)}


def _plain(text: str) -> str:
    """Return text in which nothing is a placeholder or a link (SARIF 2.1.0, 3.11.5 and 3.11.6)."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")
