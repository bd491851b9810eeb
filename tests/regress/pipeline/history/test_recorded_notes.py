"""Every recorded finding that matters is explained."""

from math import log

import msgspec

from regress.config import load_config
from regress.model.history import HistoryFinding
from regress.model.note import notes_of
from regress.pipeline.history.history import history
from regress.pipeline.request import AUTO_TIER, Request
from regress.store.notes import load_notes
from regress.store.stacks import load_published
from regress.store.tree import RECORDED

LARGEST_WITHOUT_NOTE = 0.03


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


def test_every_recorded_finding_above_3_percent_has_a_note() -> None:
    """Whoever records a release with a new step writes down what it is."""
    for tier in (AUTO_TIER, "gate"):
        request = Request((RECORDED,), None, tier, None, "python -m regress history --recorded")
        report = history(request, load_config())
        assert any(map(_large, report.findings))
        missing = _unexplained(report.findings)
        assert not missing, "\n".join(missing)


def test_a_finding_without_a_note_is_missed() -> None:
    """Each large finding then asks for a page, and the one of small steps is not enough."""
    request = Request((RECORDED,), None, "gate", None, "python -m regress history --recorded")
    findings = history(request, load_config()).findings
    bare = tuple(msgspec.structs.replace(finding, notes=()) for finding in findings)
    missing = _unexplained(bare)
    assert len(missing) == sum(map(_large, findings))
    assert all("write regress/docs/triage/" in line for line in missing)
    order = [stack.tag for stack in load_published()]
    small = [note for note in load_notes() if note.path.endswith("small-steps.md")]
    assert not [f for f in findings if _large(f) and notes_of(f, small, order)]
