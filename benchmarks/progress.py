"""Progress of a round, from the measuring process to the one that watches it.

One JSON line each on a pipe of their own: a library may print on stdout what it likes.
"""

import os

import msgspec

from workloads.record import Case

__all__ = ["Progress", "Reporter", "parse_progress"]


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the measuring process is about to do.

    Attributes
    ----------
    stage
        `import`, `build` (plan, capture, check), `measure`, `view`, `write` or `done`.
    case
        The case it is about to touch.
    done, total
        Blocks of this stage behind it and in all.
    file
        The round file, once it is written.
    """

    stage: str
    case: Case | None = None
    done: int = 0
    total: int = 0
    file: str = ""


class Reporter:
    """Writes progress to a file descriptor; to nowhere without one."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd
        if fd is not None:
            # The watcher waits for the pipe's end: what a library starts must not hold it open.
            os.set_inheritable(fd, False)  # noqa: FBT003 - it takes no keyword

    def say(self, progress: Progress) -> None:
        """Write one line, unbuffered, so that nothing is lost when the process dies."""
        if self._fd is not None:
            os.write(self._fd, msgspec.json.encode(progress) + b"\n")


def parse_progress(line: bytes) -> Progress:
    """Read one line."""
    return msgspec.json.decode(line, type=Progress)
