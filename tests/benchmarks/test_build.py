"""Making cases ready on a CPU, with scripts and made-up adapters."""

import itertools
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.backends import ADAPTERS, Prepared, Unsupported
from benchmarks.backends.adapter import Script
from benchmarks.measure import build
from benchmarks.measure.build import Builder, Built, build_order, describe
from benchmarks.measure.passes import Settings
from benchmarks.measure.timer import CpuTimer, ScriptedTimer
from tests.benchmarks.fakes import DECODE, EVEN, PREFILL, libraries
from workloads.catalog import cases
from workloads.record import Case, CaseRecord, Facts, Status
from workloads.shape import DType
from workloads.workload import parse

ON_CPU = [e.case for e in cases() if parse(e.case.workload).shape.dtype is DType.FP32]
TINY = "decode-h8x2-d64-fp32-p16-b4-skew40-t400"
OTHER = "decode-h8x2-d64-fp32-p16-b4-uniform-t800"
GIB = 2.0**30
SDPA = ADAPTERS["sdpa"]
CPU = libraries(has_gpu=False)


def builder(
    *chosen: Case, host: Any = CPU, timer: Any = None, limit_bytes: float = 20 * GIB
) -> Builder:
    return Builder(host, timer or CpuTimer(), Settings.quick(), chosen, limit_bytes)


def built(case: Case, **options: Any) -> Built:
    result = builder(case, **options).build(case)
    assert isinstance(result, Built), result
    return result


def refused(case: Case, **options: Any) -> CaseRecord:
    result = builder(case, **options).build(case)
    assert isinstance(result, CaseRecord)
    assert result.case == case
    return result


def pretend(monkeypatch: pytest.MonkeyPatch, **prepared: Any) -> list[str]:
    """Put an adapter in the place of SDPA's; return the log of what is called."""
    log: list[str] = []

    def prepare(name: str, inputs: Any, _: Any) -> Prepared:
        log.append(name)
        right = SDPA(name, inputs, CPU).launch
        return Prepared(**{"launch": right, **prepared})

    monkeypatch.setitem(ADAPTERS, "sdpa", prepare)
    return log


@pytest.mark.parametrize("case", ON_CPU, ids=str)
def test_cpu_cases_are_built_and_right(case: Case) -> None:
    """What the catalog has for hosts without a GPU computes attention within rounding."""
    record = built(case).record
    assert record.status is Status.MEASURED
    assert record.error is not None
    assert record.error < 1e-5
    assert record.plan_us == ()


def test_a_gpu_case_on_a_cpu_is_skipped() -> None:
    """The reason names the GPU; no memory is filled for a case that cannot run."""
    for backend in ("flashinfer-decode-cuda", "fa3-varlen", "sdpa", "flash-attn-paged"):
        record = refused(Case(DECODE, backend))
        assert record.status is Status.SKIPPED
        assert "GPU" in record.reason
    assert builder(Case(DECODE, "sdpa"))._pool._pairs == {}


def test_without_torch_everything_is_skipped() -> None:
    """Each case has a reason, and none is an error."""
    host = libraries(has_torch=False, has_gpu=False)
    for entry in cases("gate"):
        record = refused(entry.case, host=host)
        assert record.status is Status.SKIPPED, record
        assert record.reason


def test_what_an_adapter_raises_costs_its_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any exception is the case's reason; the same builder goes on with the next case."""

    def fail(*_: Any) -> Prepared:
        msg = "CUDA error: misaligned address\nCUDA kernel errors might be reported later"
        raise RuntimeError(msg)

    chosen = Case(TINY, "sdpa"), Case(OTHER, "sdpa")
    shared = builder(*chosen)
    with monkeypatch.context() as patch:
        patch.setitem(ADAPTERS, "sdpa", fail)
        record = shared.build(chosen[0])
    assert isinstance(record, CaseRecord)
    assert (record.status, record.reason) == (
        Status.FAILED,
        "RuntimeError: CUDA error: misaligned address",
    )
    assert isinstance(shared.build(chosen[1]), Built)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_an_output_that_is_not_finite_fails(monkeypatch: pytest.MonkeyPatch, value: float) -> None:
    """One element is enough, and such a case is never timed."""

    def launch() -> Any:
        output = torch.ones(4, 8, 64)
        output[3, 7, 63] = value
        return output

    pretend(monkeypatch, launch=launch)
    record = refused(Case(TINY, "sdpa"))
    assert (record.status, record.kernel_us) == (Status.FAILED, ())
    assert record.reason == "the output has elements that are not finite"


def test_a_wrong_output_has_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong values are measured and their error recorded, with three digits; regress judges."""
    pretend(monkeypatch, launch=lambda: torch.zeros(4, 8, 64))
    assert built(Case(TINY, "sdpa")).record.error == 1.0


def test_plan_times_and_facts_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """plan() is called as often as the settings say, before the launch is made ready."""
    calls: list[str] = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: calls.append("synchronize"))

    class Timer(CpuTimer):
        def ready(self, prepared: Prepared) -> Any:
            calls.append("ready")
            return super().ready(prepared)

    facts = Facts(resolved_backend="fa2", chunk_tokens=128)
    plan = lambda: calls.append("plan")  # noqa: E731 - a callable to hand over
    pretend(monkeypatch, plan=plan, facts=lambda: facts, workspace_bytes=64)
    record = built(Case(TINY, "sdpa"), timer=Timer()).record
    assert calls == [*["synchronize", "plan"] * 7, "synchronize", "ready"]
    assert len(record.plan_us) == 7
    assert all(time >= 0 for time in record.plan_us)
    assert (record.facts, record.workspace_bytes) == (facts, 64)


def test_facts_that_cannot_be_read_cost_the_case_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A private attribute that is gone is a failure with its name."""

    def facts() -> Facts:
        msg = "'Wrapper' object has no attribute '_backend'"
        raise AttributeError(msg)

    pretend(monkeypatch, facts=facts)
    assert "AttributeError: 'Wrapper' object" in refused(Case(TINY, "sdpa")).reason


def test_kv_memory_is_bounded() -> None:
    """A case beyond the bound is skipped with both sizes, and sizes no pool."""
    small, large = Case(TINY, "sdpa"), Case(OTHER, "sdpa")
    shared = builder(small, large, limit_bytes=600 * 1024)
    record = shared.build(large)
    assert isinstance(record, CaseRecord)
    assert record.status is Status.SKIPPED
    assert "GiB for its KV cache, the bound is" in record.reason
    assert isinstance(shared.build(small), Built)


@pytest.mark.parametrize(
    ("case", "told"),
    [
        (Case("nonsense", "scripted"), "'nonsense' is no workload slug"),
        (Case(TINY, "nonsense"), "KeyError: 'nonsense'"),
    ],
)
def test_a_case_that_makes_no_sense_fails(case: Case, told: str) -> None:
    """A plan written by hand may hold anything."""
    record = refused(case)
    assert record.status is Status.FAILED
    assert told in record.reason


def test_inputs_and_references_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases of one workload, one after another, compute its reference once a layout."""
    made: list[tuple[str, str]] = []

    class Reference(build.Reference):
        def __init__(self, inputs: Any, layout: Any) -> None:
            made.append((inputs.workload.slug, layout))
            super().__init__(inputs, layout)

    monkeypatch.setattr(build, "Reference", Reference)
    chosen = Case(TINY, "sdpa"), Case(OTHER, "sdpa")
    shared = builder(*chosen)
    for case in (chosen[0], chosen[0], chosen[1], chosen[0]):
        assert isinstance(shared.build(case), Built)
    assert made == [(slug, "contiguous") for slug in (TINY, OTHER, TINY)]


@pytest.mark.parametrize(
    ("do", "status", "told"),
    [
        ("raise", Status.FAILED, "RuntimeError: scripted failure"),
        ("nan", Status.FAILED, "not finite"),
    ],
)
def test_scripts_fail_as_they_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, do: str, status: Status, told: str
) -> None:
    """What a script does to a launch or an output is handled as a library's doing."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({EVEN: {"us": 10.0, "do": do}, "*": {"us": 20.0}}))
    monkeypatch.setenv("ATTN_SCRIPT", str(script))
    record = refused(Case(EVEN, "scripted"), timer=ScriptedTimer())
    assert record.status is status
    assert told in record.reason
    assert isinstance(builder(timer=ScriptedTimer()).build(Case(DECODE, "scripted")), Built)


def test_scripted_times_errors_and_facts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Time, factor, error and facts are what the script says."""
    script = {EVEN: {"us": 100.0, "factor": 1.5, "do": "wrong", "facts": {"chunk_tokens": 64}}}
    (tmp_path / "script").write_text(json.dumps(script))
    monkeypatch.setenv("ATTN_SCRIPT", str(tmp_path / "script"))
    timer = ScriptedTimer()
    result = built(Case(EVEN, "scripted"), timer=timer)
    assert timer.block(result.launch, 2) == [150.0, 150.0]
    assert (result.record.error, result.record.facts) == (1.0, Facts(chunk_tokens=64))
    record = refused(Case(DECODE, "scripted"), timer=timer)
    assert (record.status, "says nothing" in record.reason) == (Status.SKIPPED, True)


def test_heavy_is_what_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long prefill is rested around, decode is not; each kind's samples fill its own block."""
    heavy = "prefill-h32x8-d128-bf16-p16-q8192-b1-uniform-t8192"
    prepared = Prepared(launch=lambda: None, script=Script(lambda: 100.0, 0.0))
    monkeypatch.setitem(ADAPTERS, "scripted", lambda *_: prepared)
    settings = Settings(block_ms=1.0, heavy_block_ms=2.0)
    chosen = [Case(w, "scripted") for w in (heavy, DECODE, PREFILL)]
    shared = Builder(CPU, ScriptedTimer(), settings, chosen, 20 * GIB)
    results = [shared.build(case) for case in chosen]
    assert [(r.heavy, r.samples) for r in results if isinstance(r, Built)] == [
        (True, 20),
        (False, 10),
        (False, 10),
    ]


def test_a_finished_case_has_an_entry_a_pass() -> None:
    """Times, samples and clocks go into the record, warnings in order."""
    result = built(Case(TINY, "sdpa"))
    result.kernel_us += [1.0, 3.0, 2.0]
    result.sm_mhz += [1980, 1970, 1980]
    result.warnings |= {"throttled", "odd"}
    record = result.finished()
    assert record.kernel_us == (1.0, 3.0, 2.0)
    assert record.time_us == 2.0
    assert record.samples == (result.samples,) * 3
    assert record.sm_mhz == (1980, 1970, 1980)
    assert record.warnings == ("odd", "throttled")


NAMES = st.sampled_from(["a", "b", "c", "d"])


@given(st.lists(st.builds(Case, NAMES, NAMES), unique=True), st.integers())
def test_cases_of_a_workload_are_built_together(chosen: list[Case], seed: int) -> None:
    """Every case once, a workload's one after another, so that its inputs are made once."""
    order = build_order(chosen, random.Random(seed))  # noqa: S311 - an order
    assert sorted(order) == sorted(chosen)
    changes = sum(a.workload != b.workload for a, b in itertools.pairwise(order))
    assert changes == max(len({case.workload for case in chosen}) - 1, 0)


def test_orders_differ() -> None:
    """Another round builds in another order."""
    draws = random.Random(1)  # noqa: S311 - an order
    chosen = [Case(w, b) for w in "abcd" for b in "xyz"]
    assert build_order(chosen, draws) != build_order(chosen, draws)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("one\ntwo"), "RuntimeError: one"),
        (ValueError("  \n"), "ValueError"),
        (Unsupported(), "Unsupported"),
        (RuntimeError("x" * 1000), f"RuntimeError: {'x' * 300}"),
    ],
)
def test_an_error_is_described_in_one_line(error: Exception, told: str) -> None:
    """Kind and first line, not endless; an error without text has its kind."""
    assert describe(error) == told
