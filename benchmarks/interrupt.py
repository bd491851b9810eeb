"""Ending early: on Ctrl-C, on SIGTERM and with the parent process, and never leaving a child."""

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NoReturn

from benchmarks.errors import UserError

__all__ = ["end_with", "interruptible"]

_STOPS: Final = (signal.SIGINT, signal.SIGTERM)
_PR_SET_PDEATHSIG: Final = 1


@contextmanager
def interruptible(told: str) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM into one line, after everything inside was cleaned up.

    Raises
    ------
    UserError
        If one of them came; the message is `told`.
    """

    def stop(*_: object) -> NoReturn:
        for number in _STOPS:  # Cleaning up takes a moment, and must not be cut short.
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = [signal.signal(number, stop) for number in _STOPS]
    try:
        yield
    except KeyboardInterrupt as error:
        raise UserError(told) from error
    finally:
        for number, handler in zip(_STOPS, before, strict=True):
            signal.signal(number, handler)


def end_with(parent: int) -> None:
    """Get SIGTERM when the parent process ends, however it ends; at once if it has.

    Linux's prctl(PR_SET_PDEATHSIG); elsewhere only a parent that is gone already is noticed.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise KeyboardInterrupt
