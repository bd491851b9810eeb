"""A round on a real GPU: run with `pytest -m gpu tests/gpu` where FlashInfer can be installed."""

from pathlib import Path

import pytest

from benchmarks.campaign import Options, measure_round
from benchmarks.rounds import load_round
from benchmarks.stacks import find_stack
from benchmarks.venv import ensure_environment
from workloads.catalog import cases
from workloads.record import Round, Status

pytestmark = pytest.mark.gpu

_BACKENDS = {
    "flashinfer-decode-cuda",
    "flashinfer-decode-tc-fa2-serving",
    "flashinfer-prefill-fa3",
    "fa3-varlen",
    "sdpa",
    "flash-attn-paged",
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Round:
    chosen = [e.case for e in cases("gate") if e.case.backend in _BACKENDS]
    folder: Path = tmp_path_factory.mktemp("rounds")
    stack = find_stack("v0.6.1")
    options = Options(tier="custom", campaign="test", directory=folder)
    return load_round(measure_round(stack, chosen, options, ensure_environment(stack)))


def test_every_backend_runs_or_says_why(measured: Round) -> None:
    """A case is measured or carries a reason; those of the pinned libraries are measured."""
    assert all(r.status is Status.MEASURED or r.reason for r in measured.cases)
    ran = {r.case.backend for r in measured.cases if r.status is Status.MEASURED}
    assert ran == _BACKENDS - {"flash-attn-paged"}


def test_outputs_are_right(measured: Round) -> None:
    """Every output is within BF16's rounding of the float32 reference."""
    errors = [r.error for r in measured.cases if r.status is Status.MEASURED]
    assert all(error is not None and error < 0.02 for error in errors)


def test_cupti_agrees_with_the_timer(measured: Round) -> None:
    """Above 100 µs the kernels' own times, seen once, are within 10 % in nine cases of ten."""
    seen = [(r.cupti_us, r.time_us) for r in measured.cases if r.cupti_us and r.time_us]
    near = [0.9 < cupti / timed < 1.1 for cupti, timed in seen if timed > 100]
    assert near
    assert sum(near) >= 0.9 * len(near)


def test_most_time_is_spent_measuring(measured: Round) -> None:
    """After the build at least half of the time is inside measured kernels and their flushes."""
    assert measured.seconds["kernels"] >= 0.5 * measured.seconds["measure"]


def test_plans_are_read(measured: Round) -> None:
    """Tensor-core decode tells its chunk; above its threshold a skewed batch is not split."""
    facts = {r.case.workload: r.facts for r in measured.cases if "tc-fa2" in r.case.backend}
    skewed = facts["decode-h32x4-d128-bf16-p16-b66-skew40-t262144"]
    assert skewed is not None
    assert skewed.splits_kv is False
    assert skewed.resolved_backend == "fa2"
