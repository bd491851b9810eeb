"""Ending early leaves no process and no traceback."""

import os
import signal
import subprocess
import sys

import pytest

from benchmarks.errors import UserError
from benchmarks.interrupt import end_with, interruptible
from benchmarks.paths import ROOT

SLEEPS = """
import os, sys, time
from benchmarks.interrupt import end_with, interruptible
with interruptible("told"):
    end_with(os.getppid())
    try:
        print(os.getpid(), flush=True)
        time.sleep(60)
    finally:
        time.sleep(0.5)
        print("cleaned up", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_becomes_one_line(number: int) -> None:
    """Ctrl-C and SIGTERM end what is inside, then say what was told; handlers come back."""
    before = signal.getsignal(number)
    with pytest.raises(UserError, match="told"), interruptible("told"):
        signal.raise_signal(number)
    assert signal.getsignal(number) == before


def test_cleaning_up_is_not_cut_short() -> None:
    """A second signal, as from a group and its leader, does not interrupt what the first began."""
    with subprocess.Popen(
        [sys.executable, "-c", SLEEPS],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == "cleaned up\n"


def test_it_ends_at_once_if_the_parent_is_gone() -> None:
    """A parent that ended before it could be watched counts as ended."""
    with pytest.raises(UserError, match="told"), interruptible("told"):
        end_with(1 if os.getppid() != 1 else 2)
