"""Byte-identical stacks as measured."""

import numpy as np
import pytest

from regress.pipeline.calibrate.data import pick_rounds, strata_of_twins
from regress.pipeline.calibrate.setting import Source, source_of
from regress.pipeline.calibrate.twins import offsets, p_values, uniformity
from regress.stats.exact import p_greater
from tests.regress.pipeline.twins import CASES, TAGS, twin_rounds


def _sources(offset: float = 0.0, seed: int = 1) -> list[Source]:
    rounds = pick_rounds(twin_rounds(offset=offset, seed=seed), TAGS)
    strata = strata_of_twins(rounds, TAGS, "gate")
    return [source_of(stratum, TAGS) for stratum in strata]


def test_p_values_of_all_cells_are_those_of_the_exact_test() -> None:
    """The fast form for many cells agrees with the one that decides."""
    rng = np.random.default_rng(5)
    base, head = rng.normal(0, 1, (7, 9)), rng.normal(0.4, 1, (6, 9))
    expected = [p_greater([(base[:, cell], head[:, cell])]) for cell in range(9)]
    assert p_values(base, head).tolist() == expected


def test_a_planted_offset_is_told() -> None:
    """Over all campaigns and in each: estimate, and that the margin does not cover it."""
    every, first, second = offsets(_sources(offset=0.01), CASES, margin=0.004)
    assert (every.campaign, first.campaign, second.campaign) == ("", "c1", "c2")
    assert every.rounds == (12, 12)
    assert every.median_offset == pytest.approx(0.01, abs=0.002)
    assert every.shown_beyond == every.beyond_margin == len(CASES)


def test_without_offset_none_is_shown_beyond_the_margin() -> None:
    """Sampling alone stays inside it."""
    every = offsets(_sources(), CASES, margin=0.004)[0]
    assert every.shown_beyond == 0
    assert every.median_offset < 0.003


def test_p_values_are_called_uniform_only_without_an_offset() -> None:
    """Relabelled rounds are as far from uniform, unless the labels mean something."""
    quiet = [uniformity(_sources(seed=seed), seed=1)[0].p_value for seed in range(1, 9)]
    assert sum(p <= 0.05 for p in quiet) <= 2
    told = uniformity(_sources(offset=0.01), seed=1)[0]
    assert told.p_value < 0.01
    assert told.below_5 == 1.0
