"""One warm process of a stack: runs asv's benchmark requests without starting Python each time.

Started by `benchmarks.stack_env` with the stack's interpreter as `-m benchmarks.asv_worker`. A
request is one line of JSON on stdin; the reply is one line on what was stdout, while everything
that is printed goes to the request's log. Kernels run in a child process of the round, so a
failed request leaves nothing behind here.
"""

import json
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import TextIO

__all__ = ["serve"]


def serve(requests: TextIO, replies: TextIO) -> None:
    """Answer requests until there are no more.

    Parameters
    ----------
    requests
        Lines `{"args": […], "cwd": …, "log": …}`: the arguments of asv's `run`, the directory
        to run in and the file for all output.
    replies
        Gets a line `{"code": 0}` each, or 1 if the benchmark raised.
    """
    for line in requests:
        request = json.loads(line)
        os.chdir(request["cwd"])
        _redirect(request["log"])
        code = _run(request["args"])
        sys.stdout.flush()
        sys.stderr.flush()
        replies.write(json.dumps({"code": code}) + "\n")
        replies.flush()


def _redirect(log: str) -> None:
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)


def _run(arguments: Sequence[str]) -> int:
    from asv_runner.run import _run as run_benchmark

    try:
        run_benchmark(tuple(arguments))
    except Exception:  # noqa: BLE001 - asv wants the traceback of whatever a benchmark raises
        traceback.print_exc()
        return 1
    return 0


def _end(number: int, _: object) -> None:
    """Unwind instead of dying at once: whoever watches a measuring process ends it then."""
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    serve(sys.stdin, os.fdopen(os.dup(1), "w"))
