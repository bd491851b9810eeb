"""Drawing whole processes again."""

import numpy as np

from regress.stats.simulate import Pool, Sample

RNG = np.random.default_rng(7)
COMMON = RNG.normal(0, 0.003, (12, 1))
TIME = np.log(100) + COMMON + RNG.normal(0, 0.001, (12, 3))
SPREAD = np.abs(RNG.normal(0, 0.002, (12, 3)))
POOL = Pool(Sample(TIME, SPREAD))


def _drawn(draws: int = 40_000) -> Sample:
    return POOL.draw(draws, np.random.default_rng(1)).of(POOL.values)


def test_drawn_numbers_vary_as_the_recorded_ones_do() -> None:
    """Mean and standard deviation are the sample's: drawing alone would lose a twelfth of it."""
    drawn = _drawn()
    for found, recorded in ((drawn.time, TIME), (drawn.spread, SPREAD)):
        np.testing.assert_allclose(found.mean(axis=0), recorded.mean(axis=0), atol=1e-4)
        np.testing.assert_allclose(found.std(axis=0), recorded.std(axis=0, ddof=1), rtol=0.02)


def test_cells_of_a_process_stay_together() -> None:
    """Correlations between cells, and between time and spread, are those of the sample."""
    drawn = _drawn()
    found = np.corrcoef(np.hstack((drawn.time, drawn.spread)).T)
    recorded = np.corrcoef(np.hstack((TIME, SPREAD)).T)
    np.testing.assert_allclose(found, recorded, atol=0.02)


def test_one_process_drawn_twice_gives_no_ties() -> None:
    """Ties would count against a change, so that no alarm means nothing."""
    time = _drawn(500).time
    assert np.unique(time[:, 0]).size == 500


def test_passes_move_with_their_process() -> None:
    """The median of a drawn process's passes is its drawn time."""
    passes = TIME[:, :, None] + RNG.normal(0, 0.001, (12, 3, 7))
    time = np.median(passes, axis=2)
    drawn = Pool(Sample(time, SPREAD)).draw(30, np.random.default_rng(2))
    found = np.median(drawn.passes(passes), axis=2)
    np.testing.assert_allclose(found, drawn.of(Sample(time, SPREAD)).time)


def test_equal_seeds_give_equal_draws() -> None:
    """A simulation can be computed again."""
    np.testing.assert_array_equal(_drawn(10).time, _drawn(10).time)
