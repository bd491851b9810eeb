"""The suite's own speed: loading and judging. Run by `make bench`, not with the tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from regress.detect import DETECTORS
from regress.errors import ExitCode
from regress.gate import cell_verdicts
from regress.pipeline.ab.replay import Replay, first_stage, replay
from regress.pipeline.ab.runs import find_runs
from regress.pipeline.backends import backends
from regress.pipeline.cells import build_cells, index
from regress.pipeline.check import check
from regress.pipeline.noise import Noise
from regress.pipeline.request import Request
from regress.store.rounds import load_machine
from regress.store.tree import scan
from tests.regress.builders import (
    CONFIG,
    MACHINE,
    NO_NOISE,
    make_round,
    measured,
    rounds_of,
    write_rounds,
)
from workloads import catalog
from workloads.record import Case, Design, Round

STACKS = ("v1", "v2", "v3", "v4")
WIGGLE = (1.0, 1.001, 0.999, 1.002, 0.998)


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty synthetic round files of every case in the catalog."""
    root = tmp_path_factory.mktemp("rounds")
    cases = [entry.case for entry in catalog.cases()]
    times = {case: [100.0 * w + number for w in WIGGLE] for number, case in enumerate(cases)}
    for tag in STACKS:
        write_rounds(root, rounds_of(tag, times))
    return root


def test_loading(benchmark: BenchmarkFixture, rounds: Path) -> None:
    """Reads and checks all rounds of a machine."""
    loaded = benchmark(lambda: load_machine(scan([rounds]), MACHINE.name))
    assert len(loaded.rounds) == len(STACKS)


def test_checking(benchmark: BenchmarkFixture, rounds: Path) -> None:
    """Loads and compares two stacks over the whole catalog."""
    request = Request((rounds,), None, "sweep", None, "")
    report = benchmark(lambda: check("v1", "v2", request, CONFIG))
    assert report.exit_code is ExitCode.PASS


def test_choosing(benchmark: BenchmarkFixture, rounds: Path) -> None:
    """Loads and compares the backends of a stack over the whole catalog."""
    request = Request((rounds,), None, "sweep", None, "")
    report = benchmark(lambda: backends("v1", request, CONFIG))
    assert report.regrets


MANY: Final = {entry.case: entry.family for entry in catalog.cases("sweep")[:500]}
"""Judging these in 20 rounds a side takes less than a second."""
NOISE: Final = 0.03
"""So noisy that with the smallest floor nearly all cells need all rounds."""


def _times(draws: np.random.Generator, number: int) -> list[float]:
    return list(map(float, 100.0 * np.exp(draws.normal(0, NOISE, number))))


def test_judging_500_cells_of_20_rounds_a_side(benchmark: BenchmarkFixture) -> None:
    """The rules of `check`, from rounds that are loaded."""
    draws = np.random.default_rng(1)
    sides = [rounds_of(tag, {case: _times(draws, 20) for case in MANY}) for tag in ("v1", "v2")]

    def judge() -> int:
        base, head = map(index, sides)
        cells = build_cells(MANY, base, head, Noise((base, head), tuple, CONFIG.noise, {}))
        findings = [found for detect in DETECTORS for found in detect(cells, CONFIG)]
        return len(cell_verdicts(findings))

    assert benchmark(judge) == len(MANY)
    assert benchmark.stats.stats.min < 1.0


def test_replaying_500_cells_of_20_rounds_a_side(benchmark: BenchmarkFixture) -> None:
    """The rules of `ab` from the first stage to the confirmation, from rounds that are loaded."""
    rounds, told = _run()
    assert told.stages[-1].cells > 0.9 * len(MANY)
    assert sum(stage.rounds for stage in told.stages) >= 20

    def judge() -> Replay:
        (run,) = find_runs(rounds, "v1", "v2")
        return replay(run, MANY, NO_NOISE, CONFIG)

    assert {f.series.case for f in benchmark(judge).findings} == MANY.keys()
    assert benchmark.stats.stats.min < 1.0


def _run() -> tuple[list[Round], Replay]:
    """Measure made-up rounds as `ab` asks for them, until it asks for no more."""
    draws, rounds, told = np.random.default_rng(1), list[Round](), Replay(first_stage(MANY, CONFIG))
    while told.need:
        for block in told.need.todo:
            design = Design("run", told.need.stage, ("v1", "v2"), block, told.need.blocks)
            for tag in design.stacks:
                rounds.append(_round(tag, len(rounds), told.need.cases, draws, design))
        (run,) = find_runs(rounds, "v1", "v2")
        told = replay(run, MANY, NO_NOISE, CONFIG)
    return rounds, told


def _round(
    tag: str, number: int, cases: Sequence[Case], draws: np.random.Generator, design: Design
) -> Round:
    records = map(measured, cases, _times(draws, len(cases)))
    started_at = f"2026-01-01T{number // 60:02d}:{number % 60:02d}:00Z"
    return make_round(tag, number, records, started_at=started_at, design=design)
