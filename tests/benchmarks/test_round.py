"""One round: scripted, on this host's CPU, and on a made-up GPU."""

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import round as round_module
from benchmarks.backends import ADAPTERS, Prepared
from benchmarks.backends.adapter import Script
from benchmarks.measure import build
from benchmarks.measure.cupti import KernelView
from benchmarks.measure.passes import PROTOCOL_VERSION, Settings
from benchmarks.measure.timer import ScriptedTimer
from benchmarks.plan import Quarantined, RoundPlan, write_plan
from benchmarks.progress import Progress
from benchmarks.round import DEAD_EXIT, NO_VIEW, WRONG_STACK_EXIT, main, run_round
from benchmarks.rounds import QUICK, is_quick, load_round, load_rounds
from tests.benchmarks.fakes import DECODE, EVEN, PREFILL, libraries
from tests.benchmarks.scripting import Listener, plan_of, scripted
from workloads.catalog import cases
from workloads.record import Case, Conditions, Kernel, Machine, Round, Status
from workloads.shape import DType
from workloads.workload import parse

HEAVY = "prefill-h32x8-d128-bf16-p16-q8192-b1-uniform-t8192"
CPU_CASES = [e.case for e in cases() if parse(e.case.workload).shape.dtype is DType.FP32]


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every scripted case take 100 µs."""
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"*": {"us": 100.0}}))
    monkeypatch.setenv("ATTN_SCRIPT", str(path))


@pytest.mark.usefixtures("script")
def test_every_case_has_every_pass() -> None:
    """A round has its stack, protocol and times: one entry a pass and case."""
    settings = Settings()
    found = run_round(plan_of(*scripted(DECODE, EVEN)), Listener())
    assert (found.stack.tag, found.campaign, found.tier) == ("v1", "c1", "custom")
    for record in found.cases:
        assert record.kernel_us == (100.0,) * settings.passes
        assert record.samples == (40,) * settings.passes
    protocol = found.protocol
    assert (protocol.version, protocol.timer) == (PROTOCOL_VERSION, "scripted")
    assert (protocol.passes, protocol.block_ms, protocol.rest_ms) == (6, 7.0, 4.0)
    assert (protocol.heavy_block_ms, protocol.heavy_rest_ms) == (14.0, 10.0)
    assert set(found.seconds) == {"import", "build", "measure", "view", "kernels", "total"}
    assert found.seconds["kernels"] == pytest.approx(2 * 6 * 40 * 100e-6, abs=1e-3)
    assert found.seconds["total"] >= found.seconds["measure"]
    assert found.warnings == ()
    assert not is_quick(found)


@pytest.mark.usefixtures("gpu")
def test_nothing_is_launched_before_the_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """The timer, which owns device memory, is made afterwards."""
    made: list[str] = []
    timer = round_module.GraphTimer
    monkeypatch.setattr(round_module, "GraphTimer", lambda: made.append("timer") or timer())
    run_round(plan_of(FIRST, quick=True), Listener(), lambda: made.append("go"))
    assert made == ["go", "timer"]


@pytest.mark.usefixtures("script")
def test_two_rounds_have_different_ids() -> None:
    """A round's id is its own."""
    plan = plan_of(*scripted(DECODE), quick=True)
    assert run_round(plan, Listener()).id != run_round(plan, Listener()).id


@pytest.mark.usefixtures("script")
def test_a_quick_round_says_so() -> None:
    """One pass, and a warning that these times are no results."""
    found = run_round(plan_of(*scripted(DECODE), quick=True), Listener())
    assert found.cases[0].kernel_us == (100.0,)
    assert found.warnings == (QUICK,)


@pytest.mark.usefixtures("script")
def test_a_quarantined_case_is_recorded_and_left_alone() -> None:
    """Its place and reason are in the record; nothing touches it."""
    chosen = scripted(DECODE, EVEN, PREFILL)
    listener = Listener()
    lost = (Quarantined(chosen[1], "killed its process with SIGABRT"),)
    found = run_round(plan_of(*chosen, quarantine=lost), listener)
    assert [r.case for r in found.cases] == chosen
    assert [r.status for r in found.cases] == [
        Status.MEASURED,
        Status.QUARANTINED,
        Status.MEASURED,
    ]
    assert found.cases[1].reason == "killed its process with SIGABRT"
    assert chosen[1] not in {step.case for step in listener.steps}


@pytest.mark.usefixtures("script")
def test_each_step_is_told_before_it_is_taken() -> None:
    """Each case is named before it is touched, with what is done and left of its stage."""
    chosen = scripted(DECODE, EVEN)
    listener = Listener()
    run_round(plan_of(*chosen), listener)
    stages = Counter(step.stage for step in listener.steps)
    assert stages == {"import": 1, "build": 2, "measure": 12}
    measuring = [step for step in listener.steps if step.stage == "measure"]
    assert [step.done for step in measuring] == list(range(12))
    assert {step.total for step in measuring} == {12}
    for first in range(0, 12, 2):
        assert {step.case for step in measuring[first : first + 2]} == set(chosen)


@pytest.mark.usefixtures("script")
def test_heavy_cases_are_rested_around(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a block there is a rest, a longer one before and after compute-bound work."""
    rests: list[float] = []
    monkeypatch.setattr("benchmarks.round.time.sleep", rests.append)
    monkeypatch.setattr("benchmarks.round.rehearsing", lambda: False)
    listener = Listener()
    run_round(plan_of(*scripted(HEAVY, DECODE, EVEN, PREFILL)), listener)
    order = [step.case.workload for step in listener.steps if step.stage == "measure" and step.case]
    for first in range(0, len(order), 4):
        after_heavy = False
        for place in range(first, first + 4):
            long = order[place] == HEAVY or after_heavy
            assert rests[place] == (0.010 if long else 0.004)
            after_heavy = order[place] == HEAVY


@pytest.mark.usefixtures("script")
def test_a_rehearsal_stands_for_every_backend_and_rests_never(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a script even a case of FlashInfer is scripted, whatever its stack pins."""
    rests: list[float] = []
    monkeypatch.setattr("benchmarks.round.time.sleep", rests.append)
    case = Case(DECODE, "flashinfer-decode-cuda")
    found = run_round(plan_of(case, expected={"flashinfer-python": "0.6.1"}), Listener())
    assert found.cases[0].status is Status.MEASURED
    assert found.protocol.timer == "scripted"
    assert rests == []


CARD = Machine("gpu", "Made-up GPU", "GPU-1", 132, "580.1", "13.0", "13.0", "2.13", "3.11")


class Gpu:
    """A made-up GPU: scripted times, and a device that can be dead."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.patch = monkeypatch
        self.dead = False
        gpu = self

        class GraphTimer(ScriptedTimer):
            name = "cuda-graph-events"
            flush_bytes = 100

            def flush_us(self) -> float:
                return 10.0

        class Clocks:
            def __init__(self, uuid: str) -> None:
                assert uuid == CARD.gpu_uuid

            sm_mhz = staticmethod(lambda: 1980)
            throttle = staticmethod(lambda: gpu.throttle)
            conditions = staticmethod(lambda: Conditions(400.0, 40, gpu.throttle))

        self.throttle = 0
        here = libraries()
        monkeypatch.setattr(round_module, "has_gpu", lambda: True)
        monkeypatch.setattr(round_module, "load_libraries", lambda *_, **__: here)
        monkeypatch.setattr(round_module, "fingerprint", lambda *_, **__: CARD)
        monkeypatch.setattr(round_module, "remember_refusals", lambda: None)
        monkeypatch.setattr(round_module, "GraphTimer", GraphTimer)
        monkeypatch.setattr(round_module, "Clocks", Clocks)
        monkeypatch.setattr(round_module, "view_launches", lambda *_: [])
        monkeypatch.setattr(build, "KvPool", lambda *_: None)
        monkeypatch.setattr(build, "Inputs", lambda workload, _: Inputs(workload))
        monkeypatch.setattr(torch.cuda, "synchronize", self.synchronize)
        for name in ("fa3-varlen", "flashinfer-decode-cuda"):
            self.adapt(name, lambda: None)

    def synchronize(self) -> None:
        if self.dead:
            msg = "CUDA error: an illegal memory access was encountered"
            raise RuntimeError(msg)

    def adapt(self, name: str, launch: Callable[[], Any]) -> None:
        prepared = Prepared(launch=launch, script=Script(lambda: 50.0, 1e-3))
        self.patch.setitem(ADAPTERS, name, lambda *_: prepared)


class Inputs:
    """Inputs without memory."""

    def __init__(self, workload: Any) -> None:
        self.workload = workload


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    return Gpu(monkeypatch)


FIRST, SECOND = Case(DECODE, "fa3-varlen"), Case(EVEN, "flashinfer-decode-cuda")


def run_main(tmp_path: Path, plan: RoundPlan) -> int:
    write_plan(plan, tmp_path / "plan.json")
    return main([str(tmp_path / "plan.json")])


def test_the_card_s_state_is_recorded(gpu: Gpu) -> None:
    """Clocks after each block, conditions after each pass, throttling as a warning."""
    gpu.throttle = 4
    found = run_round(plan_of(FIRST, SECOND), Listener())
    assert found.machine == CARD
    assert (found.protocol.timer, found.protocol.flush_bytes) == ("cuda-graph-events", 100)
    for record in found.cases:
        assert record.sm_mhz == (1980,) * 6
        assert record.warnings == ("throttled",)
    assert found.conditions == (Conditions(400.0, 40, 4),) * 6
    assert found.seconds["kernels"] == pytest.approx(2 * 6 * 40 * 60e-6, abs=1e-3)


def test_a_failure_that_leaves_the_device_alive_costs_its_case(gpu: Gpu) -> None:
    """The round goes on after an ordinary exception."""

    def fail() -> None:
        msg = "no kernel image"
        raise RuntimeError(msg)

    gpu.adapt("fa3-varlen", fail)
    found = run_round(plan_of(FIRST, SECOND), Listener())
    assert [r.status for r in found.cases] == [Status.FAILED, Status.MEASURED]
    assert found.cases[0].reason == "RuntimeError: no kernel image"


def test_a_dead_device_ends_the_process(
    gpu: Gpu, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error that stays: exit code 70, and its first line for the watcher; no file."""

    def fail() -> None:
        gpu.dead = True
        msg = "CUDA error: an illegal memory access was encountered\nmore"
        raise RuntimeError(msg)

    gpu.adapt("fa3-varlen", fail)
    plan = plan_of(FIRST, SECOND, directory=str(tmp_path / "rounds"))
    assert run_main(tmp_path, plan) == DEAD_EXIT == 70
    assert capsys.readouterr().err == (
        "error: RuntimeError: CUDA error: an illegal memory access was encountered\n"
    )
    assert not (tmp_path / "rounds").exists()


def test_a_launch_that_fails_while_measuring_ends_the_process(
    gpu: Gpu, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It worked while building: what changed is the process, so the round is made anew."""
    launches: list[None] = []

    def fail_later() -> None:
        launches.append(None)
        if len(launches) == 5:
            msg = "CUDA error: unspecified launch failure"
            raise RuntimeError(msg)

    gpu.adapt("fa3-varlen", fail_later)
    assert run_main(tmp_path, plan_of(FIRST)) == DEAD_EXIT
    told = "error: RuntimeError: CUDA error: unspecified launch failure\n"
    assert capsys.readouterr().err == told


@pytest.mark.usefixtures("gpu")
def test_what_cupti_saw_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each case gets its own launch's kernels."""
    view = KernelView(48.5, (Kernel("k", (1, 2, 3), (128, 1, 1)),))
    monkeypatch.setattr(round_module, "view_launches", lambda launches, _: [view] * len(launches))
    listener = Listener()
    found = run_round(plan_of(FIRST, SECOND), listener)
    assert all((r.cupti_us, r.kernels) == (48.5, view.kernels) for r in found.cases)
    assert listener.steps[-1] == Progress("view")
    assert found.warnings == ()


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("error", [RuntimeError("CUPTI"), OSError("disk full"), KeyError("args")])
def test_times_are_good_without_cupti(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """A cross-check that fails costs nothing but itself, and the round says that it lacks it."""

    def fail(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(round_module, "view_launches", fail)
    found = run_round(plan_of(FIRST), Listener())
    assert (found.cases[0].status, found.cases[0].cupti_us) == (Status.MEASURED, None)
    assert found.warnings == (NO_VIEW,)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("fields", [{"view": False}, {"quick": True}])
def test_cupti_is_not_asked_in_vain(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, bool]
) -> None:
    """A plan may leave the cross-check out, and a quick round does."""
    monkeypatch.setattr(round_module, "view_launches", lambda *_: pytest.fail("asked"))
    listener = Listener()
    found = run_round(plan_of(FIRST, **fields), listener)
    assert "view" not in {step.stage for step in listener.steps}
    assert found.warnings == ((QUICK,) if "quick" in fields else (NO_VIEW,))


@pytest.mark.usefixtures("script")
def test_the_file_is_written_and_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`python -m benchmarks.round PLAN` prints the round's file and tells its watcher."""
    read_fd, write_fd = os.pipe()
    plan = plan_of(*scripted(DECODE), directory=str(tmp_path / "rounds"), machine="mine")
    write_plan(plan, tmp_path / "plan.json")
    assert main([str(tmp_path / "plan.json"), "--progress-fd", str(write_fd)]) == 0
    os.close(write_fd)
    with os.fdopen(read_fd, "rb") as pipe:
        last = json.loads(pipe.read().splitlines()[-1])
    path = Path(capfd.readouterr().out.strip())
    assert last == {"stage": "done", "file": str(path)}
    assert path.is_relative_to(tmp_path / "rounds" / "rehearsal" / "v1")
    assert load_round(path).cases[0].case == Case(DECODE, "scripted")


def test_what_is_no_plan_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 3 and one line for a plan that cannot be read."""
    (tmp_path / "plan.json").write_text("{}")
    assert main([str(tmp_path / "plan.json")]) == WRONG_STACK_EXIT == 3
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert err.count("\n") == 1


@pytest.mark.usefixtures("script")
def test_a_folder_that_cannot_be_written_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A round that cannot be kept says where it could not."""
    (tmp_path / "file").write_text("")
    plan = plan_of(*scripted(DECODE), directory=str(tmp_path / "file"), quick=True)
    assert run_main(tmp_path, plan) == WRONG_STACK_EXIT
    assert capsys.readouterr().err.startswith(f"error: cannot write {tmp_path}/file/")


def test_a_round_is_what_its_type_says(tmp_path: Path) -> None:
    """A measured round survives its file unchanged."""
    found: list[Round] = []

    def keep(result: Round, directory: Path) -> Path:
        found.append(result)
        return write(result, directory)

    write = round_module.write_round
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(round_module, "write_round", keep)
        plan = plan_of(*CPU_CASES, directory=str(tmp_path / "rounds"), quick=True)
        assert run_main(tmp_path, plan) == 0
    assert load_rounds(tmp_path / "rounds") == tuple(found)
