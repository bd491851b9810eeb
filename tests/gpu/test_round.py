"""A round on a real GPU: run with `pytest -m gpu tests/gpu` where FlashInfer can be installed."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from benchmarks.campaign import Options, measure_turn, round_plan
from benchmarks.process import Ahead, Turn
from benchmarks.rounds import load_round
from benchmarks.stacks import find_stack
from benchmarks.venv import ensure_environment
from workloads.catalog import cases
from workloads.record import Design, Round, Status

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
def rounds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Round, Round]:
    """Two rounds of one stack; the second one's process was started while the first measured."""
    chosen = [e.case for e in cases("gate") if e.case.backend in _BACKENDS]
    folder: Path = tmp_path_factory.mktemp("rounds")
    stack = find_stack("v0.6.1")
    options = Options(tier="custom", campaign="test", directory=folder)
    python = ensure_environment(stack)
    first, second = (
        Turn(
            round_plan(stack, chosen, replace(options, design=Design("test", "gpu", (), block, 2))),
            python,
        )
        for block in (1, 2)
    )
    with Ahead() as ahead:
        paths = (
            measure_turn(first, options.limits, lambda _: None, ahead, second),
            measure_turn(second, options.limits, lambda _: None, ahead),
        )
    return load_round(paths[0]), load_round(paths[1])


@pytest.fixture(scope="module")
def measured(rounds: tuple[Round, Round]) -> Round:
    return rounds[0]


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


def test_the_device_code_is_told(rounds: tuple[Round, Round]) -> None:
    """Every case of FlashInfer and FA3 tells a hash, the same in each round of the stack."""
    told = [
        {r.case: r.facts.cubin for r in round_.cases if r.facts and r.case.backend != "sdpa"}
        for round_ in rounds
    ]
    assert told[0] == told[1]
    assert told[0]
    for case, cubin in told[0].items():
        assert cubin is not None, case
        assert len(cubin) == 12
        assert int(cubin, 16) >= 0
    backends = {case.backend: cubin for case, cubin in told[0].items()}
    assert len(set(backends.values())) == len(backends) == len(_BACKENDS) - 2


def test_the_next_process_waited(rounds: tuple[Round, Round]) -> None:
    """It imported while the one before measured, and its round took no longer for it."""
    first, second = (round_.seconds for round_ in rounds)
    assert "wait" not in first
    assert second["wait"] >= 0
    assert second["total"] < 1.5 * first["total"]
    starts = [datetime.fromisoformat(round_.started_at) for round_ in rounds]
    assert starts[0] < starts[1]
