"""Where reports go: the terminal, a file, and further files in other formats."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from regress.errors import UsageError
from regress.output import stdout_is_terminal, write_file, write_stdout
from regress.report.view import View

__all__ = ["deliver", "targets_of", "view_of", "write"]

_Report = TypeVar("_Report")


def targets_of(options: argparse.Namespace, formats: Iterable[str]) -> dict[Path, str]:
    """Return the format of each further report by its file, before anything is judged.

    Raises
    ------
    UsageError
        If a format is unknown or a file is named twice.
    """
    found: dict[Path, str] = {}
    for text in options.report:
        name, _, file = text.partition("=")
        if name not in formats or not file:
            msg = f"--report {text}: give FORMAT=FILE with a format of {', '.join(formats)}"
            raise UsageError(msg)
        path = Path(file)
        if path in {*found, options.output}:
            msg = f"--report {text}: another report goes to {file} already"
            raise UsageError(msg)
        found[path] = name
    return found


def deliver(
    report: _Report,
    options: argparse.Namespace,
    renderers: Mapping[str, Callable[[_Report, View], str]],
    targets: Mapping[Path, str],
) -> None:
    """Write every further report, then the one asked for; each whole or not at all.

    Raises
    ------
    UsageError
        If one cannot be written.
    """
    plain = View(everything=options.all)
    texts = {path: renderers[name](report, plain) for path, name in targets.items()}
    main_text = renderers[options.format](report, view_of(options))
    for path, text in texts.items():
        write_file(text, path)
    write(main_text, options.output)


def view_of(options: argparse.Namespace) -> View:
    """Return how the main report is laid out."""
    terminal = options.output is None and stdout_is_terminal()
    return View(color=terminal, everything=options.all)


def write(text: str, path: Path | None = None) -> None:
    """Write to a file, or to stdout.

    Raises
    ------
    UsageError
        If it cannot be written.
    """
    if path is None:
        write_stdout(text)
    else:
        write_file(text, path)
