"""Levels and exact tests of many series at once, against the tests of a single one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress.stats.exact import null_cdf, p_greater, sizes_of
from regress.stats.panel import Pairing, Panel, p_values, rises, smallest_p


def _panel(seed: int, *, missing: float = 0.2) -> Panel:
    rng = np.random.default_rng(seed)
    strata = [rng.normal(0, 1, (4, 7, rounds)) for rounds in (3, 2)]
    for stratum in strata:
        stratum[rng.random(stratum.shape) < missing] = np.nan
    return Panel(tuple(strata))


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 3), st.sampled_from([0.0, 0.3]))
def test_like_the_single_test(seed: int, before: int, after: int, beyond: float) -> None:
    """Every p-value is that of the exact test with strata on the same rounds."""
    panel, pairing = _panel(seed), Pairing.around(7, before, after)
    series, pairs = (np.arange(4).repeat(pairing.size), np.tile(np.arange(pairing.size), 4))
    found = p_values(panel, pairing, (series, pairs), np.full(4, beyond))
    for s, pair, p in zip(series, pairs, found, strict=True):
        edge = int(pairing.head_start[pair])
        strata = panel.strata_between(int(s), slice(edge - before, edge), slice(edge, edge + after))
        assert p == pytest.approx(p_greater(strata, beyond) if strata else 1.0)


@given(st.integers(0, 10_000))
def test_smallest_p_depends_on_numbers_of_rounds_only(seed: int) -> None:
    """It is that of samples wholly apart, whatever the times are."""
    panel, pairing = _panel(seed), Pairing.around(7, 2, 2)
    tables, kinds = panel.alike
    found = smallest_p(panel, pairing)
    assert found.shape == (len(tables), pairing.size)
    for series in range(4):
        for pair, edge in enumerate(pairing.head_start):
            spans = slice(int(edge) - 2, int(edge)), slice(int(edge), int(edge) + 2)
            sizes = sizes_of(panel.strata_between(series, *spans))
            least = float(null_cdf(sizes)[0]) if sizes else 1.0
            assert found[kinds[series], pair] == pytest.approx(least)


def test_levels_take_campaigns_out() -> None:
    """Points that were measured on a slow and on a fast card have the level of one card."""
    truth = np.array([0.0, 0.1, 0.1, 0.3])
    fast, slow = truth[None, :, None] + 0.0, truth[None, :, None] + 0.5
    fast[:, 2:], slow[:, 1] = np.nan, np.nan
    level = Panel((fast, slow)).level[0]
    assert level - level[0] == pytest.approx(truth)


def test_levels_without_a_round() -> None:
    """A point without a round has no level."""
    values = np.zeros((1, 3, 2))
    values[0, 1] = np.nan
    assert np.isnan(Panel((values, values)).level[0, 1])
    assert np.isnan(Panel((values,)).level[0, 1])


def test_rises_of_spans() -> None:
    """The difference of the mean levels of both spans, missing points left out."""
    values = np.array([0.0, np.nan, 0.0, 1.0, 1.0])[None, :, None]
    found = rises(Panel((values,)), Pairing.around(5, 2, 2))
    assert found[0] == pytest.approx([0.5, 1.0])


def test_mirrored() -> None:
    """What was faster is slower."""
    panel = _panel(1)
    assert np.nansum(panel.level + panel.mirrored.level) == pytest.approx(0.0)
