"""Which findings a triage note explains."""

import pytest

from regress.model.finding import Metric, Ratio
from regress.model.history import Extreme, HistoryFinding
from regress.model.note import Change, Note, notes_of
from regress.model.verdict import Verdict
from tests.regress.builders import CASE, OTHER
from tests.regress.pipeline.alerts.histories import finding
from workloads.record import Case

ORDER = [f"v{number}" for number in range(10)]
CHANGE = Change("v4", "v6", (Verdict.REGRESSION,), "^decode-")


def _found(last_good: str, first_bad: str, ratio: float = 1.1, **changed: object) -> HistoryFinding:
    largest = Extreme(CASE, Ratio(ratio, None, None, 0.9))
    values = {"last_good": last_good, "first_bad": first_bad, "largest": largest, **changed}
    return finding(**values)


@pytest.mark.parametrize(
    ("last_good", "first_bad", "explained"),
    [
        ("v4", "v6", True),
        # Before more releases were measured, and after.
        ("v2", "v8", True),
        ("v4", "v5", True),
        ("v5", "v6", True),
        ("v5", "v9", True),
        # Ranges that only touch have no change in common.
        ("v3", "v4", False),
        ("v6", "v7", False),
        ("v4", "unpublished", False),
    ],
)
def test_ranges_of_releases_overlap(last_good: str, first_bad: str, *, explained: bool) -> None:
    """A note holds whichever releases in between are measured."""
    assert CHANGE.explains(_found(last_good, first_bad), ORDER) is explained


@pytest.mark.parametrize(
    "other",
    [
        {"verdict": "IMPROVEMENT"},
        {"metric": Metric.PLAN_TIME},
        {"cases": (CASE, Case("prefill-x", CASE.backend))},
    ],
)
def test_verdict_metric_and_every_case_must_fit(other: dict[str, object]) -> None:
    """One case that a note does not speak of, and the finding is not explained."""
    assert CHANGE.explains(_found("v4", "v6", cases=(CASE, OTHER)), ORDER)
    assert not CHANGE.explains(_found("v4", "v6", 1.1, **other), ORDER)


@pytest.mark.parametrize("ratio", [1.06, 1 / 1.06])
def test_a_change_that_is_too_large_wants_its_own_note(ratio: float) -> None:
    """`up_to` bounds a factor either way; lost cases have no size."""
    small = Change("v4", "v6", (Verdict.REGRESSION,), "", up_to=1.05)
    assert not small.explains(_found("v4", "v6", ratio), ORDER)
    assert small.explains(_found("v4", "v6", 1.04), ORDER)
    assert small.explains(_found("v4", "v6", largest=None), ORDER)


def test_several_notes_may_explain_one_finding() -> None:
    """Two causes in one release are two pages; each page is named once."""
    late = Change("v7", "v8", (Verdict.REGRESSION,), "")
    notes = [
        Note("a", (CHANGE, CHANGE), "a.md"),
        Note("b", (late,), "b.md"),
        Note("c", (CHANGE,), "c.md"),
    ]
    found = notes_of(_found("v4", "v6"), notes, ORDER)
    assert [note.path for note in found] == ["a.md", "c.md"]
