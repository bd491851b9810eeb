"""The suite's own speed: loading and judging. Run by `make bench`, not with the tests."""

from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from regress.errors import ExitCode
from regress.pipeline.backends import backends
from regress.pipeline.check import check
from regress.pipeline.request import Request
from regress.store.rounds import load_machine
from regress.store.tree import scan
from tests.regress.builders import CONFIG, MACHINE, rounds_of, write_rounds
from workloads import catalog

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
