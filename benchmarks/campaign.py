"""A campaign: rounds of one or more stacks, interleaved, each in a fresh watched process.

A case that kills or hangs its process is quarantined and the round redone without it.
"""

import os
import random
import re
import secrets
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.errors import UserError
from benchmarks.paths import BYTECODE, ROOT, ROUNDS
from benchmarks.plan import KV_MEMORY_GIB, Quarantined, RoundPlan, write_plan
from benchmarks.progress import Progress, parse_progress
from benchmarks.round import DEAD_EXIT, WRONG_STACK_EXIT
from benchmarks.stacks import Stack, expected_versions
from workloads.record import Case, Design

__all__ = ["NOT_INHERITED", "Limits", "Options", "campaign_id", "interleave", "measure_round"]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""A folder is called so."""
NOT_INHERITED: Final = ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE")
"""What a stack's process does without: a path would bring another package in; on images without
bytecode every round would compile all of torch again (6 s), so bytecode is kept in a folder of
ours."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds without progress after which a process counts as hung.

    Attributes
    ----------
    build_s
        While importing and building: a kernel library may compile.
    measure_s
        While measuring.
    """

    build_s: float = 900.0
    measure_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Options:
    """How the rounds of a campaign are measured.

    Attributes
    ----------
    tier, campaign
        Go into the record.
    directory
        Where round files go.
    machine
        The user's name for this machine; None to make one from the GPU model.
    quick
        Measure only so much as to see that everything runs.
    kv_memory_gib
        Bound on the memory for the KV cache.
    limits
        When a process counts as hung.
    design
        What the round is a part of, goes into the record; None for a single round.
    """

    tier: str
    campaign: str
    directory: Path = ROUNDS
    machine: str | None = None
    quick: bool = False
    kv_memory_gib: float = KV_MEMORY_GIB
    limits: Limits = Limits()
    design: Design | None = None


def campaign_id() -> str:
    """Return a new campaign's id: when it began, and something unique."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


def interleave(
    tags: Sequence[str], blocks: Sequence[int], draws: random.Random
) -> list[tuple[int, str]]:
    """Return block and tag of each round: every block holds every tag once, in random order."""
    order: list[tuple[int, str]] = []
    for block in blocks:
        shuffled = list(tags)
        draws.shuffle(shuffled)
        order += [(block, tag) for tag in shuffled]
    return order


def measure_round(
    stack: Stack,
    cases: Sequence[Case],
    options: Options,
    python: Path,
    watch: Callable[[Progress], None] = lambda _: None,
) -> Path:
    """Measure one round of a stack and return its file.

    Parameters
    ----------
    python
        Interpreter of the stack's environment.
    watch
        Called with every step of progress.

    Raises
    ------
    UserError
        If the process cannot measure this stack at all, or the machine's name is unfit.
    """
    if options.machine and not _NAME.fullmatch(options.machine):
        msg = f"{options.machine!r} cannot name a machine: use letters, digits and . _ -"
        raise UserError(msg)
    plan = RoundPlan(
        tag=stack.tag,
        digest=stack.digest,
        expected=expected_versions(stack),
        cases=tuple(cases),
        tier=options.tier,
        campaign=options.campaign,
        directory=str(options.directory.resolve()),
        machine=options.machine,
        quick=options.quick,
        kv_memory_gib=options.kv_memory_gib,
        design=options.design,
    )
    # Each try ends the round, or gives up one case or the view.
    for _ in range(len(plan.cases) + 2):
        outcome = _Attempt(plan, python, options.limits, watch).run()
        if isinstance(outcome, Path):
            return outcome
        plan = outcome
    msg = f"{stack.tag} cannot be measured: no round even with every case left out"
    raise UserError(msg)


class _Attempt:
    """One process that tries to measure the plan."""

    def __init__(
        self, plan: RoundPlan, python: Path, limits: Limits, watch: Callable[[Progress], None]
    ) -> None:
        self._plan, self._python, self._limits, self._watch = plan, python, limits, watch
        self._last = Progress("import")
        self._hung = ""

    def run(self) -> Path | RoundPlan:
        """Return the round file, or a plan without what spoilt this try."""
        with tempfile.TemporaryDirectory(prefix="attention-round-") as folder:
            plan_file, log = Path(folder, "plan.json"), Path(folder, "log")
            write_plan(self._plan, plan_file)
            with log.open("wb") as output:
                code = self._spawn(plan_file, output.fileno())
            if self._last.file:
                # It is whole, however the process ended afterwards.
                return Path(self._last.file)
            return self._next_plan(code, log.read_text(encoding="utf-8", errors="replace"))

    def _spawn(self, plan_file: Path, output: int) -> int:
        read_fd, write_fd = os.pipe()
        command = [self._python, "-m", "benchmarks.round", plan_file, "--progress-fd", write_fd]
        environment = {k: v for k, v in os.environ.items() if k not in NOT_INHERITED}
        environment["PYTHONPYCACHEPREFIX"] = str(BYTECODE)
        with subprocess.Popen(
            [str(word) for word in command],
            cwd=ROOT,
            env=environment,
            pass_fds=(write_fd,),
            stdout=output,
            stderr=output,
            start_new_session=True,
        ) as process:
            os.close(write_fd)
            try:
                with os.fdopen(read_fd, "rb", buffering=0) as pipe:
                    self._follow(process, pipe.fileno())
            except BaseException:
                _kill(process)
                raise
        return process.returncode

    def _follow(self, process: "subprocess.Popen[bytes]", fd: int) -> None:
        """Read progress until the process closes the pipe, or kill it when it hangs."""
        pending = b""
        with selectors.DefaultSelector() as selector:
            selector.register(fd, selectors.EVENT_READ)
            while True:
                limit_s = self._limit_s()
                if not selector.select(limit_s):
                    self._hung = f"hung: no progress for {limit_s:g} s while in {self._last.stage}"
                    _kill(process)
                    return
                chunk = os.read(fd, 1 << 16)
                if not chunk:
                    return
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    self._last = parse_progress(line)
                    self._watch(self._last)

    def _limit_s(self) -> float:
        building = self._last.stage in {"import", "build"}
        return self._limits.build_s if building else self._limits.measure_s

    def _next_plan(self, code: int, log: str) -> RoundPlan:
        plan, case = self._plan, self._last.case
        if self._last.stage == "view":
            # All was measured before: only the cross-check is given up.
            return msgspec.structs.replace(plan, view=False)
        lines = [line.strip() for line in log.splitlines() if line.strip()]
        told = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        if code in {WRONG_STACK_EXIT, DEAD_EXIT} and told:
            reason = told[-1]
        else:
            reason = self._hung or _cause(code, lines)
        if case is None or code == WRONG_STACK_EXIT:
            msg = f"{plan.tag} cannot be measured: {reason}"
            raise UserError(msg)
        lost = Quarantined(case, reason)
        return msgspec.structs.replace(plan, quarantine=(*plan.quarantine, lost))


def _cause(code: int, lines: Sequence[str]) -> str:
    said = f"; it last said: {lines[-1][:300]}" if lines else ""
    if code < 0:
        name = next((s.name for s in signal.Signals if s == -code), f"signal {-code}")
        return f"killed its process with {name}{said}"
    return f"ended its process with exit code {code}{said}"


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill the process and all that it started, and wait until the device is free again."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()
    time.sleep(0.1)
