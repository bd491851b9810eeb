"""The numbers of one line."""

from dataclasses import replace

import pytest

from regress.detect.threshold import bracket_of, numbers_of
from regress.model.thresholds import Bracket
from tests.regress.builders import CONFIG
from tests.regress.detect.lines import line

RULE = CONFIG.thresholds
DENSE = (8, 32, 48, 60, 64, 65, 66, 67, 128, 256)


def test_plan_facts_give_the_exact_batch() -> None:
    """Neighbouring batch sizes, one split and one not, settle the threshold without any time."""
    found = numbers_of(line(66, DENSE, timed=False), None, RULE)
    assert found.planned == Bracket(65, 66)
    assert found.planned.exact
    assert (found.measured, found.ramp, found.height) == (None, None, None)


def test_a_grid_gives_a_bracket() -> None:
    """Where batch sizes are apart the threshold is only known to lie between."""
    found = numbers_of(line(66, (8, 64, 128)), None, RULE)
    assert found.planned == Bracket(64, 128)
    assert not found.planned.exact


def test_times_alone_give_the_threshold_too() -> None:
    """Without facts, the plateau of the skewed times shows where splitting ends."""
    found = numbers_of(line(66, DENSE, facts=False), None, RULE)
    assert (found.planned, found.measured) == (None, Bracket(65, 66))


def test_a_single_point_is_no_plateau() -> None:
    """A line that ends in the ramp, or right behind the threshold, says nothing by its times."""
    assert numbers_of(line(66, (8, 32, 60, 64)), None, RULE).measured is None
    assert numbers_of(line(66, (8, 64, 66)), None, RULE).measured is None


def test_batches_of_other_campaigns_say_nothing_of_the_plateau() -> None:
    """A batch that was measured on another card alone leaves what the others show as it is."""
    whole = line(66, DENSE, facts=False)
    apart = [
        replace(p, skewed_us={"other": (p.skewed_us["c1"][0],)}) if p.batch == 67 else p
        for p in whole.points
    ]
    assert numbers_of(replace(whole, points=tuple(apart)), None, RULE).measured == Bracket(65, 66)


def test_a_line_without_a_cliff_says_so() -> None:
    """If the largest skewed batch costs what a uniform one does, splitting goes on."""
    found = numbers_of(line(1000, DENSE), None, RULE)
    assert found.planned == found.measured == found.ramp == Bracket(256, None)
    assert found.height is None


def test_a_planner_that_never_splits_has_no_last_batch() -> None:
    """The bracket is open below."""
    found = numbers_of(line(1, DENSE), None, RULE)
    assert found.planned == found.measured == Bracket(None, 8)


def test_the_ramp_begins_before_the_threshold() -> None:
    """It is where the penalty shows and stays: 1000/7 us at batch 60 is above 110, 1000/19 not."""
    assert numbers_of(line(66, DENSE), None, RULE).ramp == Bracket(48, 60)


def test_the_height_has_an_interval_around_the_truth() -> None:
    """Six rounds bound the ratio of 10."""
    height = numbers_of(line(66, DENSE), None, RULE).height
    assert height is not None
    assert (height.batch, height.rounds) == (66, 6)
    assert height.ratio.low is not None
    assert height.ratio.high is not None
    assert height.ratio.low < 10 < height.ratio.high
    assert height.ratio.high / height.ratio.low < 1.02


def test_one_round_has_no_interval_but_shows_a_cliff() -> None:
    """A tenfold jump is beyond what few rounds could make up; its height stays without ends."""
    found = numbers_of(line(66, DENSE, rounds=1), None, RULE)
    assert found.measured == Bracket(65, 66)
    assert found.height is not None
    assert (found.height.ratio.low, found.height.ratio.confidence) == (None, 0.0)


@pytest.mark.parametrize(
    ("states", "bracket"),
    [
        ([], None),
        ([(1, None)], None),
        ([(1, True), (2, None), (3, False)], Bracket(1, 3)),
        ([(1, True), (2, False), (3, True)], Bracket(1, 2)),
        ([(1, None), (2, False)], Bracket(None, 2)),
    ],
)
def test_unknown_states_widen_the_bracket(
    states: list[tuple[int, bool | None]], bracket: Bracket | None
) -> None:
    """What no round tells is never taken for either."""
    assert bracket_of(states) == bracket
