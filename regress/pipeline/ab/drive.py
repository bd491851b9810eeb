"""Having a stage measured by `python -m benchmarks`, which is handed a plan file."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from regress.counted import counted
from regress.errors import UsageError
from workloads.stage import StagePlan, write_stage

__all__ = ["Driver", "alone", "interruptible"]

_REPOSITORY: Final = Path(__file__).parents[3]
_STOPS: Final = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Driver:
    """Runs `python -m benchmarks run --plan` and waits for it.

    Attributes
    ----------
    options
        Further options of that command.
    """

    options: Sequence[str] = ()

    def measure(self, plan: StagePlan) -> None:
        """Measure a stage; what the command prints goes to stderr, as stdout is for the report.

        The command ends with this process, however this one ends: a GPU must not stay taken.

        Raises
        ------
        UsageError
            If the command fails; it has said why.
        """
        sys.stderr.write(f"{plan.stage}: {_told(plan)}\n")
        with tempfile.TemporaryDirectory(prefix="attention-stage-") as folder:
            path = Path(folder, "plan.json")
            write_stage(plan, path)
            command = [sys.executable, "-m", "benchmarks", "run", "--plan", str(path)]
            command += ["--parent", str(os.getpid()), *self.options]
            with subprocess.Popen(command, cwd=_REPOSITORY, stdout=sys.stderr) as process:
                code = _wait(process)
        if code:
            msg = (
                f"measuring {plan.stage} ended with exit code {code}, see above; "
                "once that is put right, the same command goes on"
            )
            raise UsageError(msg)


def _wait(process: "subprocess.Popen[bytes]") -> int:
    """Wait for the command; when this process is to end, first let that one end what it started."""
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM into one line, after what was started has ended.

    Raises
    ------
    UsageError
        If one of them came.
    """

    def stop(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    before = [signal.signal(number, stop) for number in _STOPS]
    try:
        yield
    except KeyboardInterrupt as error:
        msg = "interrupted: rounds that were written are kept, the same command goes on"
        raise UsageError(msg) from error
    finally:
        for number, handler in zip(_STOPS, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def alone(directory: Path) -> Iterator[None]:
    """Hold a folder of round files: two runs at once would disturb each other's times.

    The lock is the process's own, so it leaves nothing behind, however the process ends.

    Raises
    ------
    UsageError
        If another `ab` or bisection holds it, or it cannot be made.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        held = os.open(directory, os.O_RDONLY)
    except OSError as error:
        msg = f"cannot write rounds to {directory}: {error.strerror or error}"
        raise UsageError(msg) from error
    try:
        _lock(held, directory)
        yield
    finally:
        os.close(held)


def _lock(held: int, directory: Path) -> None:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        msg = (
            f"another `ab` or bisection is measuring into {directory}: wait for it, "
            "or on another GPU measure --into another folder"
        )
        raise UsageError(msg) from error
    except OSError:
        return  # Some network file systems lock no folders: then it is up to the user.


def _told(plan: StagePlan) -> str:
    side = " a side" if len(plan.stacks) > 1 else ""
    return f"{counted(len(plan.todo), 'round')}{side} of {counted(len(plan.cases), 'cell')}"
