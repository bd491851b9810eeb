"""`check` as SARIF, validated by the standard's own schema."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator, ValidationError
from msgspec.structs import replace

from regress.model.reason import REASONS
from regress.model.report import CheckReport, Pinned
from regress.model.verdict import Verdict
from regress.report.check_sarif import render_check_sarif
from regress.report.view import View
from tests.regress.builders import CASE
from tests.regress.report.samples import (
    ACCEPTED,
    CUDA,
    HOSTILE,
    SERVING,
    SPLITS,
    bare,
    mixed,
    waiver,
)

SCHEMA = Path(__file__).parents[2] / "data" / "sarif-schema-2.1.0.json"
VALIDATOR = Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def _log(report: CheckReport) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(render_check_sarif(report, View()))
    VALIDATOR.validate(log)
    return log


def _results(report: CheckReport) -> dict[str, dict[str, Any]]:
    found = _log(report)["runs"][0]["results"]
    return {r["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]: r for r in found}


def test_the_schema_is_that_of_the_standard() -> None:
    """It knows its own name, and refuses what is no SARIF."""
    assert VALIDATOR.schema["id"].endswith(
        "/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
    )
    log = _log(bare())
    assert log["$schema"] == VALIDATOR.schema["id"]
    log["runs"][0]["results"] = [{"message": "no object"}]
    with pytest.raises(ValidationError):
        VALIDATOR.validate(log)


def test_results_are_what_somebody_must_look_at(tmp_path: Path) -> None:
    """Whatever counts and is not good, with the level of its exit code; nothing else."""
    results = _results(mixed(tmp_path))
    levels = {case: (r["ruleId"], r["level"]) for case, r in results.items()}
    assert levels == {
        str(CASE): ("slower", "error"),
        str(CUDA): ("failed", "error"),
        str(SPLITS): ("error-missing", "warning"),
        str(SERVING): ("planned-on-one-side", "warning"),
    }


def test_rules_are_the_reasons(tmp_path: Path) -> None:
    """Every reason that can be a result is a rule, and results point at theirs."""
    (run,) = _log(mixed(tmp_path))["runs"]
    rules = run["tool"]["driver"]["rules"]
    good = {Verdict.SAME, Verdict.IMPROVEMENT, Verdict.NEW}
    wanted = {code: known for code, known in REASONS.items() if known.verdict not in good}
    assert {rule["id"]: rule["help"]["text"] for rule in rules} == {
        code: known.remedy for code, known in wanted.items()
    }
    assert all(rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in run["results"])


def test_fingerprints_outlive_figures_lines_and_stacks(tmp_path: Path) -> None:
    """Another day's run of other times at another line has the same ones; cases differ."""
    first = _results(mixed(tmp_path))
    later = mixed(tmp_path / "later", reason="other words")
    later = bare(findings=later.findings, pinned=Pinned("benchmarks/stacks.toml", 99), head="v3")
    second = _results(later)
    prints = {case: r["partialFingerprints"] for case, r in first.items()}
    assert {case: r["partialFingerprints"] for case, r in second.items()} == prints
    assert len({p["primaryLocationLineHash"] for p in prints.values()}) == len(prints)


def test_cases_with_one_reason_have_fingerprints_of_their_own(tmp_path: Path) -> None:
    """Two cases that are slower are two alerts, though they stand at one line."""
    slower = next(f for f in mixed(tmp_path).findings if f.series.case == CASE)
    other = replace(slower, series=replace(slower.series, case=CUDA))
    results = _results(bare(findings=(slower, other)))
    assert len({r["partialFingerprints"]["primaryLocationLineHash"] for r in results.values()}) == 2


@pytest.mark.parametrize(
    ("pinned", "line"), [(Pinned("benchmarks/stacks.toml", 33), 33), (None, 1)]
)
def test_a_result_stands_where_head_is_pinned(
    tmp_path: Path, pinned: Pinned | None, line: int
) -> None:
    """The line of head's tag, or the top of the list if head is an ad-hoc stack."""
    report = bare(findings=mixed(tmp_path).findings, pinned=pinned)
    for result in _results(report).values():
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "benchmarks/stacks.toml"
        assert place["region"]["startLine"] == line


def test_waived_results_are_suppressed(tmp_path: Path) -> None:
    """They stay in the log, with who accepts them and why."""
    results = _results(mixed(tmp_path, ACCEPTED))
    (suppression,) = results[str(CASE)]["suppressions"]
    assert suppression["kind"] == "external"
    assert suppression["justification"].startswith("accepted by serving until 2026-03-01: auto")
    assert "suppressions" not in results[str(SERVING)]


def test_waivers_to_look_at_are_notifications(tmp_path: Path) -> None:
    """A waiver that fits nothing is said beside the warnings, with the run's exit code."""
    (run,) = _log(mixed(tmp_path, [waiver(cells="tpyo")]))["runs"]
    (invocation,) = run["invocations"]
    told = [n["message"]["text"] for n in invocation["toolExecutionNotifications"]]
    assert any("waiver 1 ('tpyo', owner serving): nothing to waive" in text for text in told)
    assert (invocation["exitCode"], invocation["exitCodeDescription"]) == (1, "GONE")


def test_figures_are_properties(tmp_path: Path) -> None:
    """Scripts find numbers as numbers, and the rounds they are from."""
    properties = _results(mixed(tmp_path))[str(CASE)]["properties"]
    assert properties["measured"]["ratio"]["estimate"] == pytest.approx(4.0, rel=0.01)
    assert properties["rounds"]["base"][0] == "v1-c1-0"


def test_hostile_text_is_neither_link_nor_placeholder(tmp_path: Path) -> None:
    """What a library says stays words: links and placeholders are taken apart."""
    text = _results(mixed(tmp_path, reason=HOSTILE))[str(CUDA)]["message"]["text"]
    assert "[l] (http://x) {{0}}" in text


@given(st.text(max_size=30))
def test_any_text_is_valid(text: str) -> None:
    """Whatever characters a warning holds, the log is SARIF."""
    _log(bare(warnings=(text,), command=text))
