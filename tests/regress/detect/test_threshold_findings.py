"""What is said of thresholds: synthetic ground truth."""

from collections.abc import Iterable

import pytest

from regress.detect.threshold import numbers_of
from regress.detect.threshold_findings import Judged, detect_thresholds
from regress.model.finding import RoundIds
from regress.model.line import Line
from regress.model.reason import ReasonCode
from regress.model.thresholds import AxisNumbers, Bracket, StackPair
from regress.model.verdict import Verdict
from tests.regress.builders import CONFIG
from tests.regress.detect.lines import AXIS, line

RULE = CONFIG.thresholds
DENSE = (8, 32, 48, 60, 64, 65, 66, 67, 128, 256)
FIVE_PERCENT = tuple(round(200 * 1.05**n) for n in range(16))
NO_ROUNDS = RoundIds((), ())


def codes(
    base: Line | None,
    head: Line | None,
    predicted: Bracket | None = None,
    refused: Iterable[str] = (),
) -> dict[str, ReasonCode]:
    """What each detector says; base's own agreement is left out."""
    sides = [side and numbers_of(side, predicted, RULE) for side in (base, head)]
    judged = Judged(
        AxisNumbers(AXIS, *sides), StackPair("vbase", "vhead"), NO_ROUNDS, frozenset(refused)
    )
    found = [f for f in detect_thresholds(judged, RULE) if f.stack == "vhead"]
    return {f.detector: f.reason.code for f in found}


def test_a_shift_of_one_batch_size_is_found_from_facts() -> None:
    """From 66 to 65 is a regression, the other way an improvement, even without any time."""
    base, head = (line(t, DENSE, timed=False) for t in (66, 65))
    assert codes(base, head)["moved"] is ReasonCode.THRESHOLD_EARLIER
    assert codes(head, base)["moved"] is ReasonCode.THRESHOLD_LATER


@pytest.mark.parametrize("threshold", [300, 330, 363])
def test_a_shift_of_ten_percent_is_found_from_times(threshold: int) -> None:
    """A grid of 5 % steps is enough, without any fact of a plan."""
    base = line(threshold, FIVE_PERCENT, facts=False)
    head = line(round(threshold * 0.9), FIVE_PERCENT, facts=False)
    assert codes(base, head)["moved"] is ReasonCode.THRESHOLD_EARLIER
    assert codes(head, base)["moved"] is ReasonCode.THRESHOLD_LATER


def test_nothing_moved_is_same() -> None:
    """Equal exact thresholds, and heights equal within the margin, are SAME."""
    found = codes(line(66, DENSE), line(66, DENSE), Bracket(65, 66))
    assert found == {
        "moved": ReasonCode.THRESHOLD_KEPT,
        "height": ReasonCode.CLIFF_KEPT,
        "measured": ReasonCode.PLAN_AS_TIMED,
        "predicted": ReasonCode.PLAN_AS_PREDICTED,
    }


def test_a_grid_never_shows_that_nothing_moved() -> None:
    """Equal brackets leave room for a threshold that moved within them."""
    coarse = (8, 64, 128, 256)
    assert codes(line(66, coarse), line(70, coarse))["moved"] is ReasonCode.THRESHOLD_UNCLEAR


def test_a_higher_cliff_is_found() -> None:
    """20 % beyond the same threshold is a regression, the other way an improvement."""
    base, head = line(66, DENSE), line(66, DENSE, factor=1.2)
    assert codes(base, head)["height"] is ReasonCode.CLIFF_HIGHER
    assert codes(head, base)["height"] is ReasonCode.CLIFF_LOWER


def test_a_threshold_out_of_range_is_not_called_kept() -> None:
    """Batch sizes that do not reach it show no move, and say that they do not reach it."""
    assert codes(line(900, DENSE), line(1000, DENSE))["moved"] is ReasonCode.THRESHOLD_OUTSIDE


def test_heights_of_different_batches_are_not_compared() -> None:
    """A planner that never splits has its height at the smallest batch: only the move is told."""
    found = codes(line(1, DENSE), line(66, DENSE))
    assert found["moved"] is ReasonCode.THRESHOLD_LATER
    assert "height" not in found


def test_too_few_rounds_never_show_equal_heights() -> None:
    """One round a side has no interval, so that its height is not called the same."""
    one = line(66, DENSE, rounds=1)
    assert codes(one, one)["height"] is ReasonCode.CLIFF_UNCLEAR


def test_a_ramp_that_begins_earlier_is_found() -> None:
    """A head whose skewed batches are half slower shows it at smaller batches."""
    found = codes(line(66, DENSE), line(66, DENSE, factor=1.5))
    assert found["ramp"] is ReasonCode.RAMP_EARLIER


def test_times_that_jump_elsewhere_are_told() -> None:
    """Facts of another plan than the one that ran disagree with the times."""
    wrong = line(66, DENSE)
    moved = line(128, DENSE)
    points = tuple(
        type(p)(p.batch, p.splits, q.uniform_us, q.skewed_us)
        for p, q in zip(wrong.points, moved.points, strict=True)
    )
    assert codes(wrong, Line(AXIS, points, ()))["measured"] is ReasonCode.PLAN_UNLIKE_TIMES


def test_a_plan_unlike_the_model_is_told() -> None:
    """A model that predicts another batch size contradicts the plan."""
    found = codes(line(66, DENSE), line(66, DENSE), Bracket(63, 64))
    assert found["predicted"] is ReasonCode.PLAN_UNLIKE_MODEL


def test_missing_data_is_no_pass() -> None:
    """A line that one stack lacks is NO_DATA, whichever stack it is."""
    full = line(66, DENSE)
    empty = line(66, DENSE, facts=False, timed=False)
    for pair in ((full, None), (None, full), (full, empty), (empty, full)):
        assert codes(*pair)["coverage"] is ReasonCode.AXIS_MISSING


def test_a_line_that_cannot_be_run_is_new_or_gone() -> None:
    """What a stack tried and refused is told apart from what nobody measured."""
    full = line(66, DENSE)
    assert codes(None, full, refused=["vbase"])["coverage"] is ReasonCode.AXIS_APPEARED
    assert codes(full, None, refused=["vhead"])["coverage"] is ReasonCode.AXIS_GONE


def test_one_stack_alone_without_data_is_no_data() -> None:
    """Even without a base, a line that tells nothing is not passed over."""
    silent = numbers_of(line(66, DENSE, facts=False, timed=False), None, RULE)
    judged = Judged(AxisNumbers(AXIS, None, silent), StackPair(None, "vhead"), NO_ROUNDS)
    (found,) = detect_thresholds(judged, RULE)
    assert found.verdict is Verdict.NO_DATA
