"""The lattice of verdicts, and the reasons that go with them."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress.model.finding import Finding, Metric, RoundIds, Series
from regress.model.reason import REASONS, Reason, ReasonCode
from regress.model.verdict import EXIT_CODES, WORST_FIRST, Verdict, join
from tests.regress.builders import CASE

verdicts = st.sampled_from(Verdict)


def test_every_verdict_has_a_rank_and_an_exit_code() -> None:
    """The order and the exit codes name each verdict exactly once."""
    assert sorted(WORST_FIRST) == sorted(Verdict)
    assert set(EXIT_CODES) == set(Verdict)


@given(verdicts, verdicts, verdicts)
def test_join_is_a_semilattice(a: Verdict, b: Verdict, c: Verdict) -> None:
    """Joining is associative, commutative and idempotent."""
    assert join([join([a, b]), c]) == join([a, join([b, c])])
    assert join([a, b]) == join([b, a])
    assert join([a, a]) == a


def test_a_fast_wrong_kernel_is_broken() -> None:
    """BROKEN wins over IMPROVEMENT."""
    assert join([Verdict.IMPROVEMENT, Verdict.BROKEN]) is Verdict.BROKEN


def test_joining_nothing_is_an_error() -> None:
    """Nothing said is not SAME."""
    with pytest.raises(ValueError, match="empty"):
        join([])


def test_every_reason_is_explained() -> None:
    """The explained codes are exactly the codes."""
    assert set(REASONS) == set(ReasonCode)


def test_reason_must_fit_verdict() -> None:
    """A finding whose reason belongs to another verdict cannot be made, nor read."""
    good = Finding(
        detector="ab",
        family="f",
        series=Series(CASE, Metric.KERNEL_TIME),
        verdict=Verdict.SAME,
        reason=Reason(ReasonCode.EQUIVALENT, ""),
        rounds=RoundIds((), ()),
    )
    wrong = msgspec.json.encode(good).replace(b'"SAME"', b'"REGRESSION"')
    with pytest.raises(msgspec.ValidationError, match="does not go with"):
        msgspec.json.decode(wrong, type=Finding)
