"""Making cases ready: inputs, plan, capture, check against the reference."""

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from benchmarks.backends import Libraries, Prepared, Unsupported, prepare
from benchmarks.measure.inputs import Inputs, KvPool, pool_elements
from benchmarks.measure.passes import Settings, is_heavy, samples_for
from benchmarks.measure.reference import Reference
from benchmarks.measure.timer import Launch, Timer
from workloads.backend import Layout, backend
from workloads.cost import cost
from workloads.record import Case, CaseRecord, Status
from workloads.rehearsal import rehearsing
from workloads.shape import DType
from workloads.workload import Workload, parse

__all__ = ["Builder", "Built", "build_order", "describe"]


@dataclass(slots=True)
class Built:
    """A case ready to be timed, and what was learnt while making it so.

    Attributes
    ----------
    record
        Its record so far, without times.
    samples
        Samples of one block.
    heavy
        Whether it is compute-bound.
    prepared
        Owns the tensors that the launch reads: a captured graph holds bare addresses.
    kernel_us, sm_mhz
        One entry a pass, filled while measuring.
    warnings
        Codes of what is doubtful.
    """

    record: CaseRecord
    launch: Launch
    samples: int
    heavy: bool
    prepared: Prepared
    kernel_us: list[float] = field(default_factory=list)
    sm_mhz: list[int] = field(default_factory=list)
    warnings: set[str] = field(default_factory=set)

    def finished(self) -> CaseRecord:
        """Return the record with times."""
        return msgspec.structs.replace(
            self.record,
            kernel_us=tuple(self.kernel_us),
            samples=(self.samples,) * len(self.kernel_us),
            sm_mhz=tuple(self.sm_mhz),
            warnings=tuple(sorted(self.warnings)),
        )


def build_order(cases: Sequence[Case], draws: random.Random) -> list[Case]:
    """Return the cases in random order, those of one workload together to share its inputs."""
    slugs = sorted({case.workload for case in cases})
    draws.shuffle(slugs)
    place = {slug: i for i, slug in enumerate(slugs)}
    return sorted(cases, key=lambda case: (place[case.workload], draws.random()))


class Builder:
    """Builds cases one by one, in the order of `build_order`.

    Parameters
    ----------
    libraries, timer, settings
        What can run, and how it is timed.
    cases
        All cases of the round: KV memory is sized for the largest.
    kv_memory_bytes
        Bound on that memory; a case that needs more is skipped.
    """

    def __init__(
        self,
        libraries: Libraries,
        timer: Timer,
        settings: Settings,
        cases: Sequence[Case],
        kv_memory_bytes: float,
    ) -> None:
        self._libraries, self._timer, self._settings = libraries, timer, settings
        self._limit_bytes = kv_memory_bytes
        self._flush_us = timer.flush_us()
        self._pool = KvPool("cuda" if libraries.has_gpu else "cpu", dict(self._needs(cases)))
        self._inputs: Inputs | None = None
        self._references: dict[Layout, Reference] = {}

    def build(self, case: Case) -> Built | CaseRecord:
        """Return the case ready to be timed, or the record of why it is not.

        An exception of a library is an answer too: the case failed, the round goes on.
        """
        try:
            return self._build(case, self._inputs_of(parse(case.workload)))
        except Unsupported as reason:
            return CaseRecord(case, Status.SKIPPED, str(reason))
        except Exception as error:  # noqa: BLE001 - whatever a kernel library throws
            return CaseRecord(case, Status.FAILED, describe(error))

    def _build(self, case: Case, inputs: Inputs) -> Built | CaseRecord:
        prepared = prepare(case.backend, inputs, self._libraries)
        # Before the capture: a later plan() may let go of buffers that the graph reads.
        plan_us = _plan_times(prepared.plan, self._settings.plan_calls)
        launch, output = self._timer.ready(prepared)
        error = prepared.script.error if prepared.script else self._error(case, inputs, output)
        if not math.isfinite(error):
            return CaseRecord(case, Status.FAILED, "the output has elements that are not finite")
        record = CaseRecord(
            case,
            Status.MEASURED,
            plan_us=tuple(plan_us),
            error=float(f"{error:.3g}"),
            workspace_bytes=prepared.workspace_bytes,
            facts=prepared.facts(),
        )
        heavy = is_heavy(cost(inputs.workload).intensity)
        budget_ms = self._settings.heavy_block_ms if heavy else self._settings.block_ms
        sample_us = min(self._timer.block(launch, 2)) + self._flush_us
        return Built(record, launch, samples_for(budget_ms, sample_us), heavy, prepared)

    def _error(self, case: Case, inputs: Inputs, output: object) -> float:
        layout = backend(case.backend).layout
        if layout not in self._references:
            self._references[layout] = Reference(inputs, layout)
        return self._references[layout].error(output)

    def _inputs_of(self, workload: Workload) -> Inputs:
        if kv_bytes(workload) > self._limit_bytes:
            msg = (
                f"needs {kv_bytes(workload) / 2**30:.1f} GiB for its KV cache, "
                f"the bound is {self._limit_bytes / 2**30:.1f} GiB"
            )
            raise Unsupported(msg)
        if self._inputs is None or self._inputs.workload != workload:
            self._inputs, self._references = Inputs(workload, self._pool), {}
        return self._inputs

    def _needs(self, cases: Sequence[Case]) -> Iterator[tuple[DType, int]]:
        """Yield elements of K for each data type that this device will use."""
        affordable = [
            w
            for w in {parse(c.workload) for c in cases if c.backend != "scripted"}
            if self._libraries.has_torch
            and not rehearsing()
            and (w.shape.dtype is DType.FP32) != self._libraries.has_gpu
            and kv_bytes(w) <= self._limit_bytes
        ]
        for dtype in DType:
            elements = [pool_elements(w) for w in affordable if w.shape.kv_dtype is dtype]
            if elements:
                yield dtype, max(elements)


def kv_bytes(workload: Workload) -> int:
    """Return the bytes of the workload's KV cache, page padding included."""
    return 2 * pool_elements(workload) * workload.shape.kv_dtype.size_bytes


def describe(error: BaseException) -> str:
    """Return kind and first line of an error."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__


def _plan_times(plan: Callable[[], object] | None, calls: int) -> list[float]:
    """Return host times of plan() in microseconds, each with an idle device before it."""
    if plan is None:
        return []
    import torch

    times = []
    for _ in range(calls):
        torch.cuda.synchronize()
        start = time.perf_counter()
        plan()
        times.append(round((time.perf_counter() - start) * 1e6, 1))
    torch.cuda.synchronize()
    return times
