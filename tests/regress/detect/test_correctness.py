"""Errors against the reference."""

import msgspec
import pytest

from regress.detect.correctness import detect_correctness, tolerance_of
from regress.errors import UsageError
from regress.model.reason import ReasonCode
from tests.regress.builders import CASE, CONFIG, cell_from, make_round, measured
from workloads.record import Case, Round


def _side(tag: str, error: float | None, case: Case = CASE) -> list[Round]:
    return [make_round(tag, n, [measured(case, 100.0, error=error)]) for n in range(5)]


@pytest.mark.parametrize(
    ("base", "head", "code"),
    [
        (0.004, 0.004, None),
        (0.004, 0.019, None),
        (0.004, 0.03, ReasonCode.ERROR_GREW),
        (0.025, 0.03, None),
        (None, 0.03, ReasonCode.ERROR_GREW),
        (None, None, None),
        (0.004, None, ReasonCode.ERROR_MISSING),
        (None, 0.004, None),
    ],
)
def test_error_beyond_tolerance_and_grown(
    base: float | None, head: float | None, code: ReasonCode | None
) -> None:
    """BROKEN needs both; an error that nobody looked at is not taken as good."""
    cell = cell_from(_side("v1", base), _side("v2", head))
    assert [f.reason.code for f in detect_correctness([cell], CONFIG)] == ([code] if code else [])


def test_one_wrong_round_is_enough() -> None:
    """The largest error over the rounds counts."""
    head = _side("v2", 0.004)
    head[2] = msgspec.structs.replace(head[2], cases=(measured(CASE, 100.0, error=0.5),))
    (finding,) = detect_correctness([cell_from(_side("v1", 0.004), head)], CONFIG)
    assert finding.reason.code is ReasonCode.ERROR_GREW


def test_tolerance_is_that_of_the_coarsest_type() -> None:
    """BF16 queries on an FP8 cache have the tolerance of FP8."""
    fp8 = Case("decode-h32x4-d128-bf16-kvfp8-p16-b64-uniform-t262144", "x")
    assert tolerance_of(fp8, CONFIG.error) == CONFIG.error.fp8
    assert tolerance_of(CASE, CONFIG.error) == CONFIG.error.bf16


def test_a_wrong_slug_is_one_line() -> None:
    """A case whose workload is no slug cannot be given a tolerance."""
    with pytest.raises(UsageError, match="is no workload slug"):
        tolerance_of(Case("nonsense", "x"), CONFIG.error)
