"""The asv process's side of a warm worker: start it, ask it, give it up."""

import json
import os
import select
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from benchmarks.paths import ROOT

__all__ = ["WarmWorker", "WorkerLostError"]

_GRACE_S: Final = 10.0


class WorkerLostError(Exception):
    """The worker did not answer in time, or ended; it is gone."""

    def __init__(self, reason: str, *, timed_out: bool) -> None:
        super().__init__(reason)
        self.timed_out = timed_out


class WarmWorker:
    """A `benchmarks.asv_worker` process.

    Parameters
    ----------
    python
        Interpreter of the stack's environment.
    environment
        Environment variables of the process.
    """

    def __init__(self, python: Path, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [str(python), "-m", "benchmarks.asv_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(environment),
            cwd=ROOT,
            text=True,
            # Ctrl-C is asv's to handle; it closes its workers at exit.
            start_new_session=True,
        )

    def ask(self, arguments: Sequence[str], cwd: str, timeout_s: float) -> tuple[str, int]:
        """Run one of asv's benchmark requests.

        Parameters
        ----------
        arguments
            Those of asv's `run`.
        cwd
            Directory to run in.
        timeout_s
            Seconds to wait for the answer.

        Returns
        -------
        tuple
            All output, and 0, or 1 if the benchmark raised.

        Raises
        ------
        WorkerLostError
            If there was no answer. The process has been ended, and the round that it was measuring.
        """
        handle, log = tempfile.mkstemp(prefix="asv-request-")
        os.close(handle)
        try:
            code = self._exchange({"args": list(arguments), "cwd": cwd, "log": log}, timeout_s)
            return Path(log).read_text(encoding="utf-8", errors="replace"), code
        except WorkerLostError as lost:
            output = Path(log).read_text(encoding="utf-8", errors="replace")
            reason = f"{output}{lost}"
            raise WorkerLostError(reason, timed_out=lost.timed_out) from lost
        finally:
            Path(log).unlink()

    def _exchange(self, request: Mapping[str, object], timeout_s: float) -> int:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            msg = "a worker has pipes"
            raise AssertionError(msg)
        # A process that has ended shows below, where its answer is missing.
        with suppress(BrokenPipeError):
            stdin.write(json.dumps(request) + "\n")
            stdin.flush()
        if not select.select([stdout], [], [], timeout_s)[0]:
            self.close()
            msg = f"the worker did not answer within {timeout_s:g} s"
            raise WorkerLostError(msg, timed_out=True)
        reply = stdout.readline()
        if not reply:
            self.close()
            msg = f"the worker ended with code {self._process.returncode}"
            raise WorkerLostError(msg, timed_out=False)
        return int(json.loads(reply)["code"])

    def close(self) -> None:
        """End the process; asked politely first, it ends the round that it is measuring."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        self._process.terminate()
        try:
            self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
