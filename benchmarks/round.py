"""One round: a fresh process that builds its cases, then makes shuffled passes over them.

Run as `python -m benchmarks.round PLAN` by `benchmarks.campaign`, in the stack's environment.
"""

import argparse
import ctypes
import os
import random
import signal
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.backends import Libraries
from benchmarks.backends.flashinfer_modules import remember_refusals
from benchmarks.errors import UserError
from benchmarks.measure.build import Builder, Built, build_order, describe
from benchmarks.measure.clocks import Clocks
from benchmarks.measure.cupti import view_launches
from benchmarks.measure.host import WrongVersionError, fingerprint, has_gpu, load_libraries
from benchmarks.measure.passes import PROTOCOL_VERSION, Settings, pass_order
from benchmarks.measure.timer import CpuTimer, GraphTimer, ScriptedTimer, Timer
from benchmarks.plan import RoundPlan, load_plan
from benchmarks.progress import Progress, Reporter
from benchmarks.rounds import QUICK, write_round
from benchmarks.venv import derived_wheels
from workloads.record import (
    SCHEMA,
    CaseRecord,
    Conditions,
    Machine,
    Protocol,
    Round,
    StackRef,
    Status,
)
from workloads.rehearsal import REHEARSAL, rehearsing

__all__ = ["DEAD_EXIT", "NO_VIEW", "WRONG_STACK_EXIT", "main", "run_round"]

_PR_SET_PDEATHSIG: Final = 1
NO_VIEW: Final = "no-view"
"""Warning code of a round that lacks CUPTI's view of its launches."""
DEAD_EXIT: Final = 70
"""The device cannot be used any more (a CUDA error stays); the last reported case did it."""
WRONG_STACK_EXIT: Final = 3
"""What would be measured is not what the plan says; stderr has one line that says why."""


class DeadDeviceError(Exception):
    """A CUDA error that stays, or a launch that worked before: this process is of no more use."""


@dataclass(slots=True)
class _Clock:
    """Where the time of a round goes, in seconds."""

    seconds: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 3)


class _Round:
    """State of the round that is being measured."""

    def __init__(self, plan: RoundPlan, reporter: Reporter) -> None:
        self.plan, self.reporter = plan, reporter
        self.settings = Settings.quick() if plan.quick else Settings()
        self.draws = random.Random()  # noqa: S311 - an order, not a secret
        self.clock = _Clock()
        self.records: list[CaseRecord] = [
            CaseRecord(q.case, Status.QUARANTINED, q.reason) for q in plan.quarantine
        ]
        self.built: list[Built] = []
        self.conditions: list[Conditions] = []
        self.warnings: list[str] = [QUICK] if plan.quick else []
        if not plan.view:
            self.warnings.append(NO_VIEW)

    def load(self) -> None:
        """Import the stack, assert its versions, learn where this is; launch nothing."""
        self.reporter.say(Progress("import"))
        self._scripted = rehearsing() or all(c.backend == "scripted" for c in self.plan.cases)
        # A script needs no device, and importing torch would take most of its round's time.
        gpu = not self._scripted and has_gpu()
        self.libraries: Libraries = replace(
            load_libraries({} if rehearsing() else self.plan.expected, gpu=gpu),
            stack=self.plan.tag,
        )
        if self.libraries.can_run("flashinfer-python"):
            remember_refusals()
        name = REHEARSAL if rehearsing() else self.plan.machine
        self.machine: Machine = fingerprint(name, gpu=gpu)
        self.clocks = Clocks(self.machine.gpu_uuid)

    def build(self) -> None:
        """Choose the timer and make every case ready that is not quarantined."""
        self.timer: Timer
        if self._scripted:
            self.timer = ScriptedTimer()
        else:
            self.timer = GraphTimer() if self.libraries.has_gpu else CpuTimer()
        left_out = {record.case for record in self.records}
        cases = [case for case in self.plan.cases if case not in left_out]
        limit_bytes = self.plan.kv_memory_gib * 2**30
        builder = Builder(self.libraries, self.timer, self.settings, cases, limit_bytes)
        for done, case in enumerate(build_order(cases, self.draws)):
            self.reporter.say(Progress("build", case, done, len(cases)))
            result = builder.build(case)
            if isinstance(result, Built):
                self.built.append(result)
            else:
                self.records.append(result)
                if result.status is Status.FAILED:
                    self.assert_alive(result.reason)

    def measure(self) -> float:
        """Make the passes; return the seconds inside measured kernels and their flushes."""
        flush_us = self.timer.flush_us()
        kernels_us = 0.0
        total = self.settings.passes * len(self.built)
        for number in range(self.settings.passes):
            after_heavy = False
            order = pass_order([b.heavy for b in self.built], self.draws)
            for place, index in enumerate(order):
                built = self.built[index]
                done = number * len(order) + place
                self.reporter.say(Progress("measure", built.record.case, done, total))
                self._rest(heavy=built.heavy or after_heavy)
                try:
                    kernels_us += self._block(built, flush_us)
                except Exception as error:
                    raise DeadDeviceError(describe(error)) from error
                after_heavy = built.heavy
            if (now := self.clocks.conditions()) is not None:
                self.conditions.append(now)
        return kernels_us / 1e6

    def _rest(self, *, heavy: bool) -> None:
        if rehearsing():
            return  # A script does not get hot.
        time.sleep((self.settings.heavy_rest_ms if heavy else self.settings.rest_ms) / 1e3)

    def _block(self, built: Built, flush_us: float) -> float:
        times = self.timer.block(built.launch, built.samples)
        if (mhz := self.clocks.sm_mhz()) is not None:
            built.sm_mhz.append(mhz)
        if self.clocks.throttle():
            built.warnings.add("throttled")
        built.kernel_us.append(round(statistics.median(times), 3))
        return sum(times) + flush_us * len(times)

    def view(self) -> None:
        """Take CUPTI's view of every launch, where there is a GPU and time for it."""
        wanted = self.plan.view and not self.plan.quick
        if not wanted or not isinstance(self.timer, GraphTimer) or not self.built:
            return
        self.reporter.say(Progress("view"))
        try:
            views = view_launches([b.launch for b in self.built], self.timer.flush)
        except (RuntimeError, OSError, KeyError, ValueError):
            views = []
        if not views:
            # The view is a cross-check: times are good without it, but say that it is missing.
            self.warnings.append(NO_VIEW)
        for built, seen in zip(self.built, views, strict=False):
            built.record = msgspec.structs.replace(
                built.record, cupti_us=seen.microseconds, kernels=seen.kernels
            )

    def assert_alive(self, reason: str) -> None:
        """Raise if a failure has left the device unusable."""
        if not self.libraries.has_gpu:
            return
        import torch

        try:
            torch.cuda.synchronize()
        except RuntimeError as error:
            raise DeadDeviceError(reason) from error

    def record(self, started_at: datetime) -> Round:
        """Return the whole round."""
        plan, settings = self.plan, self.settings
        order = {case: i for i, case in enumerate(plan.cases)}
        records = [*self.records, *(b.finished() for b in self.built)]
        return Round(
            schema=SCHEMA,
            id=uuid.uuid4().hex[:12],
            campaign=plan.campaign,
            started_at=started_at.isoformat(timespec="seconds"),
            stack=StackRef(plan.tag, plan.digest, dict(self.libraries.versions), derived_wheels()),
            machine=self.machine,
            protocol=Protocol(
                version=PROTOCOL_VERSION,
                timer=self.timer.name,
                passes=settings.passes,
                block_ms=settings.block_ms,
                rest_ms=settings.rest_ms,
                heavy_block_ms=settings.heavy_block_ms,
                heavy_rest_ms=settings.heavy_rest_ms,
                flush_bytes=self.timer.flush_bytes,
            ),
            tier=plan.tier,
            seconds=self.clock.seconds,
            cases=tuple(sorted(records, key=lambda r: order[r.case])),
            conditions=tuple(self.conditions),
            warnings=tuple(self.warnings),
            design=plan.design,
        )


def run_round(
    plan: RoundPlan, reporter: Reporter, wait: Callable[[], object] | None = None
) -> Round:
    """Measure what the plan says and return the round.

    Parameters
    ----------
    wait
        Called when all is imported; it returns when the device may be used. Rounds are ordered
        by when they measured, so the round starts after it, and its time is no part of the total.

    Raises
    ------
    WrongVersionError
        If another version than the pinned one would be measured.
    DeadDeviceError
        If a case left the device unusable.
    """
    state = _Round(plan, reporter)
    clock = state.clock
    with clock.part("import"):
        state.load()
    if wait is not None:
        with clock.part("wait"):
            wait()
    started_at = datetime.now(UTC)
    with clock.part("build"):
        state.build()
    with clock.part("measure"):
        kernels_s = state.measure()
    with clock.part("view"):
        state.view()
    clock.seconds["kernels"] = round(kernels_s, 3)
    passed = time.perf_counter() - clock.started - clock.seconds.get("wait", 0.0)
    clock.seconds["total"] = round(passed, 3)
    return state.record(started_at)


def _wait_for_go(fd: int) -> None:
    """Wait for the watcher's word; end if the watcher is gone or wants no such round any more."""
    if not os.read(fd, 1):
        sys.exit(0)
    os.close(fd)


def _die_with_parent() -> None:
    """Ask the kernel to end this process with the one that watches it: a GPU must not stay taken.

    Linux's prctl(PR_SET_PDEATHSIG); elsewhere nothing is asked.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the plan named on the command line and write its round file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.round")
    parser.add_argument("plan", type=Path)
    parser.add_argument("--progress-fd", type=int)
    parser.add_argument("--go-fd", type=int)
    options = parser.parse_args(argv)
    wait = None if options.go_fd is None else partial(_wait_for_go, options.go_fd)
    reporter = Reporter(options.progress_fd)
    try:
        plan = load_plan(options.plan)
        result = run_round(plan, reporter, wait)
        reporter.say(Progress("write"))
        path = write_round(result, Path(plan.directory))
        reporter.say(Progress("done", file=str(path)))
        sys.stdout.write(f"{path}\n")
    except (UserError, WrongVersionError) as error:
        sys.stderr.write(f"error: {error}\n")
        return WRONG_STACK_EXIT
    except DeadDeviceError as error:
        sys.stderr.write(f"error: {error}\n")
        return DEAD_EXIT
    return 0


if __name__ == "__main__":
    _die_with_parent()
    ended = main()
    if ended == DEAD_EXIT:
        sys.stderr.flush()
        # What torch tears down at exit may abort on a dead device, and hide why it died.
        os._exit(ended)
    sys.exit(ended)
