"""The suite's own speed: slugs, ledger, round files, export. Run by `make bench`."""

import random
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.asv_results import write_results
from benchmarks.export import select_rounds
from benchmarks.ledger import render_stream, write_ledger
from benchmarks.measure.passes import pass_order
from benchmarks.rounds import load_round, load_rounds, write_round
from benchmarks.stacks import load_stacks
from tests.benchmarks.synthetic import measured, stack, synthetic_round
from workloads import catalog
from workloads.record import Kernel, Round
from workloads.workload import parse

STACKS = tuple(stack(f"v{day}", day) for day in range(1, 6))
KERNELS = tuple(Kernel(f"namespace::Kernel{i}", (132, 1, 4), (128, 1, 1)) for i in range(3))


def whole_round(of: Any, number: int) -> Round:
    """A synthetic round of the whole catalog, with as many entries as a real one."""
    records = tuple(
        structs.replace(measured(e.case, 100.0 + number, 20.0), kernels=KERNELS)
        for e in catalog.cases()
    )
    return synthetic_round(of, records, number=number)


@pytest.fixture(scope="module")
def rounds() -> tuple[Round, ...]:
    return tuple(whole_round(of, n) for n, of in enumerate(s for s in STACKS for _ in range(5)))


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[[], Path]:
    """Give a folder that is not there yet, another one each time."""
    numbers = count()
    return lambda: tmp_path / str(next(numbers))


def test_choosing_the_catalog(benchmark: BenchmarkFixture) -> None:
    """Makes all cases of the largest tier, as each process does once."""

    def choose() -> int:
        catalog._catalog.cache_clear()
        return len(catalog.cases())

    assert benchmark(choose) > 250


def test_parsing_slugs(benchmark: BenchmarkFixture) -> None:
    """Parses every slug of the catalog and formats it again."""
    slugs = sorted({e.case.workload for e in catalog.cases()})
    assert benchmark(lambda: [parse(slug).slug for slug in slugs]) == slugs


def test_ordering_a_pass(benchmark: BenchmarkFixture) -> None:
    """Orders 250 cases, a tenth of them heavy."""
    heavy = [i % 10 == 0 for i in range(250)]
    draws = random.Random(1)  # noqa: S311 - an order
    assert len(benchmark(lambda: pass_order(heavy, draws))) == len(heavy)


def test_reading_the_stacks(benchmark: BenchmarkFixture) -> None:
    """Reads the published list."""
    assert benchmark(load_stacks)


def test_rendering_the_ledger(benchmark: BenchmarkFixture) -> None:
    """Renders the published stacks as a stream for git."""
    stacks = load_stacks()
    assert benchmark(lambda: render_stream(stacks)).count(b"commit refs/") == len(stacks)


def test_making_the_ledger(benchmark: BenchmarkFixture, fresh: Callable[[], Path]) -> None:
    """Makes the git repository of the published stacks."""
    stacks = load_stacks()
    assert benchmark(lambda: write_ledger(stacks, fresh())).is_dir()


def test_keeping_the_ledger(benchmark: BenchmarkFixture, fresh: Callable[[], Path]) -> None:
    """Finds an up-to-date ledger, as each asv command does."""
    stacks = load_stacks()
    place = write_ledger(stacks, fresh())
    assert benchmark(lambda: write_ledger(stacks, place)) == place


def test_writing_a_round(
    benchmark: BenchmarkFixture, rounds: tuple[Round, ...], fresh: Callable[[], Path]
) -> None:
    """Writes a round of the whole catalog."""
    path = benchmark(lambda: write_round(rounds[0], fresh()))
    assert path.stat().st_size < 100_000


def test_reading_a_round(
    benchmark: BenchmarkFixture, rounds: tuple[Round, ...], tmp_path: Path
) -> None:
    """Reads a round of the whole catalog."""
    path = write_round(rounds[0], tmp_path)
    assert benchmark(lambda: load_round(path)) == rounds[0]


def test_reading_all_rounds(
    benchmark: BenchmarkFixture, rounds: tuple[Round, ...], tmp_path: Path
) -> None:
    """Reads twenty-five rounds of the whole catalog."""
    for each in rounds:
        write_round(each, tmp_path)
    assert len(benchmark(lambda: load_rounds(tmp_path))) == len(rounds)


def test_exporting(benchmark: BenchmarkFixture, rounds: tuple[Round, ...], tmp_path: Path) -> None:
    """Chooses twenty-five rounds and makes asv's results from them, discovery included."""

    def export() -> None:
        kept = select_rounds(rounds, STACKS)
        write_results(kept.rounds, STACKS, ledger=tmp_path / "ledger", results=tmp_path / "results")

    benchmark.pedantic(export, rounds=3, warmup_rounds=1)
    found = list((tmp_path / "results" / "synthetic").glob("*.json"))
    assert len(found) == len(STACKS) + 1
