"""Segmentation of a long series."""

import numpy as np
import pytest

from regress.stats import segments
from regress.stats.segments import segment, spread_of

pytest.importorskip("ruptures")


def _noise(size: int = 60) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.random.default_rng(3).normal(0, 0.01, size)


def test_a_step_begins_a_segment() -> None:
    """The first index of the new segment is returned."""
    values = _noise()
    values[25:] += 0.05
    assert segment(values, 6.0) == (25,)


def test_a_flat_series_is_one_segment() -> None:
    """Noise alone, and no noise at all, have no change point."""
    assert segment(_noise(), 6.0) == ()
    assert segment(np.zeros(30), 6.0) == ()


def test_spread_of_neighbours() -> None:
    """Steps hardly move the estimate of the noise."""
    values = _noise(2000)
    assert spread_of(values) == pytest.approx(0.01, rel=0.1)
    values[1000:] += 1.0
    assert spread_of(values) == pytest.approx(0.01, rel=0.1)


def test_without_ruptures(monkeypatch: pytest.MonkeyPatch) -> None:
    """None says that nobody looked, which is not the same as no change point."""
    monkeypatch.setattr(segments, "find_spec", lambda _name: None)
    assert segment(_noise(), 6.0) is None
