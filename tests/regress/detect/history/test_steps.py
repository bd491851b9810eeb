"""Steps and drift in many made-up series, and how often they are false."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regress.detect.history.recovery import Stretches, outcome_of, stretches_of
from regress.detect.history.steps import Found, Line, Nature, PlacedStep, find_changes, jumps
from regress.stats.exact import Floats
from regress.stats.panel import Panel
from regress.stats.rates import acceptable
from tests.regress.builders import CONFIG

RULE = CONFIG.history
Edit = Callable[[Floats], None]


def _line(
    edit: Edit | None = None,
    shape: tuple[int, int, int] = (8, 24, 3),
    *,
    seed: int = 1,
    margin: float = 0.01,
    nature: Nature = Nature.OPEN,
) -> Line:
    rng = np.random.default_rng(seed)
    strata = [rng.normal(campaign, 0.002, shape) for campaign in range(2)]
    for stratum in strata:
        if edit:
            edit(stratum)
    natures = np.full((shape[0], shape[1] - 1), nature, dtype=np.int8)
    size = np.full(shape[0], np.log1p(margin))
    return Line(Panel(tuple(strata)), 0.4 * size, size, natures)


def _step(values: Floats) -> None:
    values[:3, 12:] += 0.03


def _places(found: Found) -> list[tuple[int, int, bool]]:
    return [(step.series, step.point, step.slower) for step in found.steps]


def test_a_step_is_placed() -> None:
    """The first point after it is told for each series that has it, and no other."""
    found = find_changes(_line(_step), RULE)
    assert _places(found) == [(n, 12, True) for n in range(3)]
    assert all(s.first < 12 <= s.last for s in found.steps)
    assert found.drifts == ()


def test_one_slow_release() -> None:
    """A single release stands out from many on either side: up, and down again."""

    def blip(values: Floats) -> None:
        values[0, 17] += 0.03

    assert _places(find_changes(_line(blip), RULE)) == [(0, 17, True), (0, 18, False)]


def test_the_newest_release() -> None:
    """A step at the very end is shown by the last release against many before it."""

    def late(values: Floats) -> None:
        values[0, -1] += 0.03

    assert _places(find_changes(_line(late), RULE)) == [(0, 23, True)]


def test_several_steps() -> None:
    """Nothing assumes that there is one step only."""

    def stairs(values: Floats) -> None:
        values[0, 6:] += 0.03
        values[0, 12:] -= 0.05
        values[0, 18:] += 0.04

    places = _places(find_changes(_line(stairs), RULE))
    assert places == [(0, 6, True), (0, 12, False), (0, 18, True)]


def test_drift() -> None:
    """Steps far below the margin that sum up beyond it are drift, not steps."""

    def drift(values: Floats) -> None:
        values[0] += np.linspace(0, 0.04, values.shape[1])[:, None]

    found = find_changes(_line(drift), RULE)
    assert found.steps == ()
    (told,) = found.drifts
    assert told.series == 0
    assert told.early[1] < told.late[0]


def test_a_step_is_no_drift() -> None:
    """What a shown step explains is not told again."""
    assert find_changes(_line(_step), RULE).drifts == ()


def test_below_the_margin() -> None:
    """A lasting change below the margin is neither a step nor drift."""

    def small(values: Floats) -> None:
        values[:, 12:] += 0.005

    found = find_changes(_line(small), RULE)
    assert (found.steps, found.drifts) == ((), ())


def test_closed_boundaries_have_no_step() -> None:
    """Where the kernel is identical nothing is found, whatever the times are."""
    found = find_changes(_line(_step, nature=Nature.CLOSED), RULE)
    assert (found.steps, found.drifts, found.hypotheses) == ((), (), 0)


def test_known_changes_need_fewer_rounds() -> None:
    """A step at which another kernel runs is shown although all others could not be."""
    shape = (400, 4, 2)

    def step(values: Floats) -> None:
        values[0, 2:] += 0.03

    line = _line(step, shape)
    assert find_changes(line, RULE).steps == ()
    line.nature[0, 1] = Nature.EXPLAINED
    assert _places(find_changes(line, RULE)) == [(0, 2, True)]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_mirrored_times_mirror_the_steps(seed: int) -> None:
    """Slower becomes faster at the same place with the same certainty."""
    line = _line(_step, seed=seed)
    mirrored = find_changes(Line(line.panel.mirrored, line.beyond, line.size, line.nature), RULE)
    expected = [(s.series, s.point, not s.slower) for s in find_changes(line, RULE).steps]
    assert _places(mirrored) == expected


@settings(max_examples=20, deadline=None)
@given(st.floats(-5, 5), st.integers(0, 10_000))
def test_scaling_changes_nothing(offset: float, seed: int) -> None:
    """All times longer by a factor, in one campaign too, give the same steps."""
    line = _line(_step, seed=seed)
    moved = Panel((line.panel.strata[0] + offset, line.panel.strata[1]))
    assert _places(find_changes(Line(moved, line.beyond, line.size, line.nature), RULE)) == _places(
        find_changes(line, RULE)
    )


def _histories(draw: Callable[[np.random.Generator, tuple[int, int, int]], Floats]) -> int:
    """Return in how many of 200 histories without a change something is called slower."""
    wrong = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        strata = tuple(draw(rng, (10, 14, 3)) for _ in range(2))
        nature = np.full((10, 13), Nature.OPEN, dtype=np.int8)
        nature[:5] = Nature.EXPLAINED
        # Without any margin the tests are as sharp as they can be.
        found = find_changes(Line(Panel(strata), np.zeros(10), np.zeros(10), nature), RULE)
        wrong += any(step.slower for step in found.steps) or bool(found.drifts)
    return wrong


def _normal(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    return rng.normal(0, 1, shape)


def _heavy(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    return rng.standard_cauchy(shape)


def _bimodal(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    return rng.choice([0.0, 1.0], shape, p=[0.8, 0.2]) + rng.normal(0, 0.1, shape)


def _together(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """All cells of a round move together."""
    return rng.normal(0, 0.1, shape) + rng.normal(0, 1, (1, *shape[1:]))


@pytest.mark.parametrize("draw", [_normal, _heavy, _bimodal, _together])
def test_family_wise_error(
    draw: Callable[[np.random.Generator, tuple[int, int, int]], Floats],
) -> None:
    """Whatever the noise is, at most `family_alpha` of whole histories call anything slower."""
    assert _histories(draw) <= acceptable(RULE.family_alpha, 200, 0.999)


def test_jumps_skip_gaps() -> None:
    """A point is compared with the last one before it that has a level."""
    level = np.array([[0.0, np.nan, 0.5, 0.7]])
    found = jumps(level)[0]
    assert found[1:] == pytest.approx([0.5, 0.2])
    assert np.isnan(found[0])


def _alike(level: list[float], rounds: int = 5) -> Stretches:
    """Every point with code of its own."""
    known = np.array(level)
    changed = np.ones(known.size - 1, dtype=np.bool_)
    return stretches_of(known, np.full(known.size, rounds), changed, 5)


def test_outcome_without_a_step_back() -> None:
    """A level that comes down by itself is no recovery: nothing shows it."""
    assert outcome_of((0, 1, True), _alike([0.0, 0.05, 0.05, 0.0]), (), 0.01).end is None


def test_outcome_of_what_ended_without_a_step() -> None:
    """It is over, too, if the newest code is shown equal: from where the level came back."""
    alike = _alike([0.0, 0.05, 0.05, 0.004, 0.0])
    assert outcome_of((0, 1, True), alike, (), 0.01, equal=True).end == 3


def test_code_with_few_rounds_ends_nothing() -> None:
    """Whatever its level seems to be."""
    alike = _alike([0.0, 0.05, 0.05, 0.004], rounds=1)
    assert outcome_of((0, 1, True), alike, (), 0.01, equal=True).end is None


def test_points_with_the_same_code_share_a_level() -> None:
    """Noise between them ends no change; gaps stay gaps, and their rounds add up."""
    level = np.array([0.0, 0.02, np.nan, 0.04, 0.1])
    changed = np.array([True, False, False, True])
    found = stretches_of(level, np.array([5, 3, 0, 2, 4]), changed, 5)
    assert found.level == pytest.approx([0.0, 0.03, np.nan, 0.03, 0.1], nan_ok=True)
    assert found.trusted.tolist() == [True, True, False, True, False]
    assert found.around(3) == slice(1, 4)
    assert found.newest == 3


def test_the_direction_of_a_change_is_its_own() -> None:
    """Not that of a level that noise of the same code has turned."""
    changed = np.array([True, False, True])
    alike = stretches_of(np.array([0.0, 0.02, -0.03, 0.0]), np.full(4, 5), changed, 5)
    back = PlacedStep(0, 3, slower=False, p_adjusted=0.01, first=0, last=3)
    assert outcome_of((0, 1, True), alike, (back,), 0.01).end == 3
