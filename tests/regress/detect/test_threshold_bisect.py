"""Bisection as a pure function."""

from hypothesis import given
from hypothesis import strategies as st

from regress.detect.threshold_bisect import narrowed, next_batches
from regress.model.thresholds import Bracket
from tests.regress.builders import CONFIG

RULE = CONFIG.thresholds
SMALLEST, LARGEST = RULE.smallest_batch, RULE.largest_batch
THRESHOLDS = st.integers(SMALLEST, LARGEST + 1)


def search(threshold: int, guess: int | None) -> tuple[dict[int, bool], int]:
    """Ask a planner that stops at a threshold until nothing is left to ask."""
    known: dict[int, bool] = {}
    steps = 0
    while batches := next_batches(known, guess, RULE):
        steps += 1
        for batch in batches:
            assert batch not in known
            assert SMALLEST <= batch <= LARGEST
            known[batch] = batch < threshold
    return known, steps


@given(THRESHOLDS)
def test_ten_batches_are_enough_without_a_guess(threshold: int) -> None:
    """Every threshold in the range is found exactly with at most ten batch sizes."""
    known, _ = search(threshold, None)
    assert len(known) <= 10
    found = narrowed(known, RULE)
    assert found.first == (threshold if threshold <= LARGEST else None)
    assert found.last == (threshold - 1 if threshold > SMALLEST else None)


@given(st.integers(SMALLEST + 1, LARGEST))
def test_a_right_guess_takes_one_step_and_two_batches(threshold: int) -> None:
    """The expected batch and the one before settle it."""
    known, steps = search(threshold, threshold)
    assert (sorted(known), steps) == ([threshold - 1, threshold], 1)


@given(st.integers(SMALLEST + 1, LARGEST), st.integers(-255, 255))
def test_a_guess_that_is_not_far_off_is_put_right(guess: int, off: int) -> None:
    """A planner that moved by up to 255 batch sizes is found exactly, with ten of them."""
    threshold = min(max(guess + off, SMALLEST), LARGEST + 1)
    known, _ = search(threshold, guess)
    assert len(known) <= 10
    found = narrowed(known, RULE)
    assert found.first == (threshold if threshold <= LARGEST else None)
    assert found.last == (threshold - 1 if threshold > SMALLEST else None)


@given(THRESHOLDS, st.integers(0, 2000))
def test_no_guess_misleads(threshold: int, guess: int) -> None:
    """Whatever is guessed, the bracket holds the threshold and ten batch sizes are the most."""
    known, _ = search(threshold, guess)
    assert len(known) <= 10
    found = narrowed(known, RULE)
    assert found.last is None or found.last < threshold
    assert found.first is None or found.first >= threshold


def test_of_several_ends_it_is_the_first() -> None:
    """A planner that splits again above its threshold has stopped all the same."""
    known = {10: True, 20: False, 30: True, 40: False}
    assert narrowed(known, RULE) == Bracket(10, 20)
