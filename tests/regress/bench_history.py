"""The history's own speed: 10,000 series of 200 points. Run by `make bench`, not with the tests."""

from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from regress.detect.history.steps import Line, Nature, find_changes
from regress.stats.panel import Panel
from regress.stats.segments import segment
from regress.store.cache import load_cached
from regress.store.tree import scan
from tests.regress.builders import CONFIG, MACHINE
from tests.regress.pipeline.history.year import TAGS, Year

SERIES, POINTS = 10_000, 200
STEPPED = slice(None, None, 4)


def _values() -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Noise of one percent; a quarter of the series has a step of five percent in the middle."""
    values = np.random.default_rng(1).normal(0, 0.01, (SERIES, POINTS, 1))
    values[STEPPED, POINTS // 2 :] += 0.05
    return values


def test_detecting(benchmark: BenchmarkFixture) -> None:
    """Finds steps and drift in all series with one error rate, on one core."""
    nature = np.full((SERIES, POINTS - 1), Nature.OPEN, dtype=np.int8)
    size, values = np.full(SERIES, np.log1p(0.03)), _values()

    def detect() -> int:
        # A panel keeps what it computed, so each round makes its own.
        line = Line(Panel((values,)), size / 3, size, nature)
        return len({step.series for step in find_changes(line, CONFIG.history).steps})

    found = benchmark.pedantic(detect, rounds=3)
    assert found > 0.95 * len(range(SERIES)[STEPPED])
    assert benchmark.stats.stats.min < 3.0


def test_segmenting(benchmark: BenchmarkFixture) -> None:
    """Segments all series with KernelCPD: information, not part of the detector."""
    pytest.importorskip("ruptures")
    values = _values()[:, :, 0]

    def count() -> int:
        return sum(bool(segment(row, CONFIG.history.penalty)) for row in values)

    assert benchmark.pedantic(count, rounds=1) >= len(range(SERIES)[STEPPED])
    assert benchmark.stats.stats.min < 6.0


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A thousand synthetic round files."""
    root = tmp_path_factory.mktemp("rounds")
    Year(root, campaigns={f"c{n}": (range(len(TAGS)), 6) for n in range(1, 11)}).write()
    return root


def test_loading_without_a_copy(benchmark: BenchmarkFixture, rounds: Path) -> None:
    """Reads every file."""
    tree = scan((rounds,))
    assert benchmark(lambda: load_cached(tree, MACHINE.name, fewest=10**6)).sheets


def test_loading_with_a_copy(benchmark: BenchmarkFixture, rounds: Path) -> None:
    """Hashes every file, and reads none."""
    pytest.importorskip("pyarrow")
    tree = scan((rounds,))
    load_cached(tree, MACHINE.name, fewest=1)
    assert benchmark(lambda: load_cached(tree, MACHINE.name, fewest=1)).sheets
