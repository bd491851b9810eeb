"""What the recorded year says, and that every finding that matters is explained."""

from math import log

import msgspec
import pytest

from regress.config import load_config
from regress.model.history import History, HistoryFinding
from regress.model.note import notes_of
from regress.model.verdict import Verdict
from regress.pipeline.history.history import history
from regress.pipeline.request import AUTO_TIER, Request
from regress.store.notes import load_notes
from regress.store.stacks import load_published
from regress.store.tree import RECORDED

LARGEST_WITHOUT_NOTE = 0.03


@pytest.fixture(scope="module")
def nightly() -> History:
    return _history(AUTO_TIER)


@pytest.fixture(scope="module")
def gate() -> History:
    return _history("gate")


def _history(tier: str) -> History:
    command = "python -m regress history --recorded"
    return history(Request((RECORDED,), None, tier, None, command), load_config())


def _large(finding: HistoryFinding) -> bool:
    size = abs(log(finding.largest.ratio.estimate)) if finding.largest else float("inf")
    return size > log(1 + LARGEST_WITHOUT_NOTE)


def _unexplained(findings: tuple[HistoryFinding, ...]) -> list[str]:
    return [
        f"{f.verdict} {f.last_good} -> {f.first_bad}: {f.reason} ({f.largest and f.largest.case}): "
        "write regress/docs/triage/<date>-<cause>.md (regress/docs/history.md says how); its head "
        f"needs a [[change]] within {f.last_good} and {f.first_bad} with {f.verdict} among its "
        f"verdicts and `cases` that fit all of {', '.join(map(str, f.cases))}"
        for f in findings
        if _large(f) and not f.notes
    ]


def test_every_recorded_finding_above_3_percent_has_a_note(nightly: History, gate: History) -> None:
    """Whoever records a release with a new step writes down what it is."""
    for report in (nightly, gate):
        assert any(map(_large, report.findings))
        missing = _unexplained(report.findings)
        assert not missing, "\n".join(missing)


def test_a_finding_without_a_note_is_missed(gate: History) -> None:
    """Each large finding then asks for a page, and the one of small steps is not enough."""
    findings = gate.findings
    bare = tuple(msgspec.structs.replace(finding, notes=()) for finding in findings)
    missing = _unexplained(bare)
    assert len(missing) == sum(map(_large, findings))
    assert all("write regress/docs/triage/" in line for line in missing)
    order = [stack.tag for stack in load_published()]
    small = [note for note in load_notes() if note.path.endswith("small-steps.md")]
    assert not [f for f in findings if _large(f) and notes_of(f, small, order)]


def test_the_two_known_steps(nightly: History) -> None:
    """The two known steps of FlashInfer are found with their cause, and none between twins."""
    steps = {
        (f.last_good, f.first_bad, f.verdict): f
        for f in nightly.findings
        if "the backend resolves" in f.cause.summary
    }
    slower = steps["v0.5.3", "v0.6.0", Verdict.REGRESSION]
    faster = steps["v0.6.3", "v0.6.4", Verdict.IMPROVEMENT]
    assert "fa3, was fa2" in slower.cause.summary
    assert "fa2, was fa3" in faster.cause.summary
    assert slower.recovered_by == "v0.6.4"
    compared = "python -m regress check v0.5.3 v0.6.0 --recorded"
    assert slower.reproduce == compared
    assert not any((f.last_good, f.first_bad) == ("v0.6.0", "v0.6.1") for f in nightly.findings)
    twins = next(p for p in nightly.controls.pairs if (p.base, p.head) == ("v0.6.0", "v0.6.1"))
    assert twins.same_sources
    assert twins.cells > 200
