"""Vanished, failed, skipped and unplanned cases."""

from collections.abc import Sequence

import pytest

from regress.detect.coverage import detect_coverage
from regress.model.reason import ReasonCode
from tests.regress.builders import CASE, CONFIG, cell_from, lost, make_round, measured
from workloads.record import CaseRecord, Round, Status

OK = measured(CASE, 100.0)
FAILED, SKIPPED, KILLED = (
    lost(CASE, status) for status in (Status.FAILED, Status.SKIPPED, Status.QUARANTINED)
)


def _side(tag: str, records: Sequence[CaseRecord], campaign: str = "c1") -> list[Round]:
    return [make_round(tag, n, [record], campaign) for n, record in enumerate(records)]


@pytest.mark.parametrize(
    ("base", "head", "code"),
    [
        ([OK] * 5, [OK] * 5, None),
        ([OK] * 5, [SKIPPED] * 5, ReasonCode.SKIPPED),
        ([OK] * 5, [FAILED] * 5, ReasonCode.FAILED),
        ([OK] * 5, [KILLED] * 5, ReasonCode.QUARANTINED),
        ([OK] * 5, [OK] * 4 + [FAILED], ReasonCode.FLAKY),
        ([OK] * 4 + [FAILED], [OK] * 4 + [FAILED], ReasonCode.FLAKY_BOTH),
        ([OK] * 4 + [FAILED], [FAILED] * 5, ReasonCode.FAILED),
        ([OK] * 4 + [FAILED], [OK] * 5, None),
        ([FAILED] * 5, [OK] * 5, ReasonCode.APPEARED),
        ([SKIPPED] * 5, [SKIPPED] * 5, None),
        ([OK] * 5, [], ReasonCode.ONE_SIDED),
        ([], [OK] * 5, ReasonCode.ONE_SIDED),
        ([], [], ReasonCode.NEVER_PLANNED),
    ],
)
def test_what_became_of_a_case(
    base: list[CaseRecord], head: list[CaseRecord], code: ReasonCode | None
) -> None:
    """Each way to lose, gain or never have a case has its reason."""
    cell = cell_from(_side("v1", base), _side("v2", head))
    assert [f.reason.code for f in detect_coverage([cell], CONFIG)] == ([code] if code else [])


def test_the_reason_is_told() -> None:
    """The adapter's own words reach the finding."""
    head = _side("v2", [lost(CASE, Status.FAILED, "CUDA error: illegal address")] * 5)
    (finding,) = detect_coverage([cell_from(_side("v1", [OK] * 5), head)], CONFIG)
    assert finding.reason.message == "failed in head: CUDA error: illegal address"


def test_a_loss_in_another_campaign_counts() -> None:
    """A case that failed in a campaign that is not compared has failed all the same."""
    base = _side("v1", [OK] * 6, "c1")
    head = [*_side("v2", [OK] * 6, "c1"), *_side("v2", [FAILED], "c2")]
    (finding,) = detect_coverage([cell_from(base, head)], CONFIG)
    assert finding.reason.code is ReasonCode.FLAKY
