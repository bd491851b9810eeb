"""A measuring process: started, let go, watched to its end; it never outlives its watcher."""

import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from benchmarks.paths import BYTECODE, ROOT
from benchmarks.plan import RoundPlan, write_plan
from benchmarks.progress import Progress, parse_progress

__all__ = ["NOT_INHERITED", "Ahead", "Ending", "Limits", "RoundProcess", "Turn"]

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
class Turn:
    """A round to measure.

    Attributes
    ----------
    plan
        What its process is told.
    python
        Interpreter of the stack's environment.
    """

    plan: RoundPlan
    python: Path


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended.

    Attributes
    ----------
    last
        Its last word: a round file is named there, or what it was about to do.
    hung
        Why it was killed; empty if it ended by itself.
    code
        Exit code, negative for a signal.
    log
        What it printed.
    """

    last: Progress
    hung: str
    code: int
    log: str


class RoundProcess:
    """A fresh process of `benchmarks.round`, started by the constructor.

    Parameters
    ----------
    turn
        What it measures.
    held
        Whether it only imports its libraries, and then waits until it is followed.
    """

    def __init__(self, turn: Turn, *, held: bool = False) -> None:
        self.turn = turn
        self._last, self._hung = Progress("import"), ""
        self._scratch = tempfile.TemporaryDirectory(prefix="attention-round-")
        self._log = Path(self._scratch.name, "log")
        self._progress, write_fd = os.pipe()
        wait_fd: int | None = None
        self._go: int | None = None
        if held:
            wait_fd, self._go = os.pipe()
        theirs = [fd for fd in (write_fd, wait_fd) if fd is not None]
        plan_file = Path(self._scratch.name, "plan.json")
        command = [turn.python, "-m", "benchmarks.round", plan_file, "--progress-fd", write_fd]
        command += ["--go-fd", wait_fd] if wait_fd is not None else []
        try:
            write_plan(turn.plan, plan_file)
            self._process = self._spawn([str(word) for word in command], theirs)
        except BaseException:
            self._let_go()
            os.close(self._progress)
            self._scratch.cleanup()
            raise
        finally:
            for fd in theirs:
                os.close(fd)

    def _spawn(self, command: list[str], theirs: list[int]) -> "subprocess.Popen[bytes]":
        environment = {k: v for k, v in os.environ.items() if k not in NOT_INHERITED}
        environment["PYTHONPYCACHEPREFIX"] = str(BYTECODE)
        with self._log.open("wb") as output:
            return subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                pass_fds=theirs,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def follow(self, limits: Limits, watch: Callable[[Progress], None]) -> Ending:
        """Let the process measure, and watch it to its end; to be called once.

        Time that it waited before is not looked at.

        Parameters
        ----------
        limits
            When it counts as hung, and is killed.
        watch
            Called with every step of progress. If it raises, the process is ended first.
        """
        try:
            self._let_go(b"\n")
            self._read(limits, watch)
            code = self._process.wait()
            log = self._log.read_text(encoding="utf-8", errors="replace")
        finally:
            self.end()
        return Ending(self._last, self._hung, code, log)

    def _let_go(self, word: bytes = b"") -> None:
        """Say the word, or nothing, and close the pipe: then the process measures, or ends."""
        if self._go is not None:
            with suppress(BrokenPipeError):  # it has ended, and its exit code tells why
                os.write(self._go, word)
            os.close(self._go)
            self._go = None

    def _read(self, limits: Limits, watch: Callable[[Progress], None]) -> None:
        """Read progress until the process closes the pipe, or kill it when it hangs."""
        pending = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._progress, selectors.EVENT_READ)
            while True:
                building = self._last.stage in {"import", "build"}
                limit_s = limits.build_s if building else limits.measure_s
                if not selector.select(limit_s):
                    told = f"hung: no progress for {limit_s:g} s while in {self._last.stage}"
                    self._hung = told
                    _kill(self._process)
                    return
                chunk = os.read(self._progress, 1 << 16)
                if not chunk:
                    return
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    self._last = parse_progress(line)
                    watch(self._last)

    def end(self) -> None:
        """Kill the process and all that it started; nothing is left of a process that ended."""
        if self._progress < 0:
            return
        if self._process.returncode is None:
            _kill(self._process)
        self._let_go()
        os.close(self._progress)
        self._progress = -1
        self._scratch.cleanup()


class Ahead:
    """Holds at most one process that was started before its turn; it ends with the context."""

    def __init__(self) -> None:
        self._waiting: RoundProcess | None = None

    def start(self, turn: Turn) -> None:
        """Start the process of a turn, if none is waiting; without resources for it, do not."""
        if self._waiting is None:
            with suppress(OSError):  # it is started again at its turn, and a reason told then
                self._waiting = RoundProcess(turn, held=True)

    def take(self, turn: Turn) -> RoundProcess:
        """Return the waiting process if it is for this very turn, else a fresh one."""
        if self._waiting is None or self._waiting.turn != turn:
            return RoundProcess(turn)
        process, self._waiting = self._waiting, None
        return process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._waiting is not None:
            self._waiting.end()
            self._waiting = None


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill the process and all that it started, and wait until the device is free again."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(0.1)
