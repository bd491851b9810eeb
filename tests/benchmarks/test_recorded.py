"""The recorded H200 rounds are what the project says they are."""

from collections import Counter
from statistics import median

import pytest

from benchmarks.paths import RECORDED
from benchmarks.rounds import is_quick, load_rounds
from benchmarks.stacks import find_stack
from workloads.catalog import cases
from workloads.record import Status

STACKS = ("v0.5.3", "v0.6.0", "v0.6.1", "v0.6.3", "v0.6.4")
ROUNDS = load_rounds(RECORDED / "h200")


def test_five_nightly_rounds_a_stack() -> None:
    """Each stack has at least five nightly rounds, and three have sweeps."""
    counts = Counter((r.stack.tag, r.tier) for r in ROUNDS)
    assert all(counts[tag, "nightly"] >= 5 for tag in STACKS)
    assert all(counts[tag, "sweep"] >= 1 for tag in ("v0.5.3", "v0.6.1", "v0.6.4"))


@pytest.mark.parametrize("tag", STACKS)
def test_a_stack_stays_small(tag: str) -> None:
    """Recorded rounds of a stack are at most 0.5 MB."""
    assert sum(f.stat().st_size for f in (RECORDED / "h200" / tag).iterdir()) <= 500_000


def test_rounds_are_whole() -> None:
    """Every round holds cases of its tier, each measured or with a reason, and none is quick.

    Hand-picked cases are parts of a run: what looked odd, or a bisection's batch sizes.
    """
    for one in ROUNDS:
        assert not is_quick(one)
        if one.tier == "custom":
            assert one.design
        else:
            assert {r.case for r in one.cases} <= {e.case for e in cases(one.tier)}
        assert all(r.status is Status.MEASURED or r.reason for r in one.cases)


def test_rounds_are_of_the_listed_stacks() -> None:
    """Digest and imported versions are those of the published pins."""
    for one in ROUNDS:
        stack = find_stack(one.stack.tag)
        assert one.stack.digest == stack.digest
        assert one.stack.imported == dict(stack.pins)


def test_outputs_are_right() -> None:
    """Every measured output is within BF16's rounding of the float32 reference."""
    errors = [r.error for one in ROUNDS for r in one.cases if r.status is Status.MEASURED]
    assert all(error is not None and error < 0.02 for error in errors)


def test_cupti_agrees_with_the_timer() -> None:
    """Above 100 µs the kernels' own times are within 3 % of the timed replay at the median."""
    ratios = [
        r.cupti_us / r.time_us
        for one in ROUNDS
        for r in one.cases
        if r.cupti_us and r.time_us and r.time_us > 100
    ]
    assert len(ratios) > 5000
    assert median(ratios) == pytest.approx(1, abs=0.03)


def test_rounds_are_fast_and_mostly_measuring() -> None:
    """A nightly round takes at most 45 s; at least half of the time after the build is kernels.

    A round of a handful of cases spends more of it on rests: there is less to spread them over.
    """
    for one in (r for r in ROUNDS if r.tier != "custom"):
        assert one.tier != "nightly" or one.seconds["total"] <= 45
        after = one.seconds["measure"] + one.seconds["view"]
        assert one.seconds["kernels"] >= 0.5 * after
