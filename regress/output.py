"""Where text goes: the terminal or a file, whole or with one clear error."""

import io
import os
import shutil
import sys
from pathlib import Path

from regress.errors import UsageError

__all__ = [
    "append_file",
    "complain",
    "speak_any_character",
    "stdout_is_terminal",
    "write_file",
    "write_stdout",
]


def speak_any_character() -> None:
    """Let stdout and stderr escape what their encoding does not have, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def stdout_is_terminal() -> bool:
    """Whether somebody looks at stdout; a closed one is none (Python has None for it)."""
    return sys.stdout is not None and sys.stdout.isatty()


def complain(message: str) -> None:
    """Write to stderr; without one, nobody can be told and the exit code must do."""
    if sys.stderr is not None:
        sys.stderr.write(f"{message}\n")


def write_stdout(text: str) -> None:
    """Write to stdout. A reader that leaves (`| head`) has seen enough: that is no error.

    Raises
    ------
    UsageError
        If stdout is closed or cannot take the text.
    """
    if sys.stdout is None:
        msg = "cannot write the report: stdout is closed; use --output FILE"
        raise UsageError(msg)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
    except OSError as error:
        _drop_stdout()
        msg = f"cannot write the report to stdout: {error.strerror or error}"
        raise UsageError(msg) from error


def _drop_stdout() -> None:
    """Forget what is buffered: Python would try again at exit, and set its own exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_file(content: str | bytes, path: Path) -> None:
    """Write a file whole or not at all: after an error the old one is as it was.

    Raises
    ------
    UsageError
        If it cannot be written.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            # A device or a pipe is written to, never replaced.
            path.write_bytes(data)
        else:
            _replace(path.resolve(), data)
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise UsageError(msg) from error


def append_file(text: str, path: Path) -> None:
    """Append to a file that others write to, too, such as the outputs of a job.

    Raises
    ------
    UsageError
        If it cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise UsageError(msg) from error


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".regress-{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
