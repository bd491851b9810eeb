"""Progress of a round on the terminal."""

import sys
from collections.abc import Callable
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from benchmarks.progress import Progress

__all__ = ["Display"]

_STAGES: Final = {"build": "building", "measure": "measuring"}


class Display:
    """Cells done and time left: a bar on a terminal, nothing in a log (one line a round is).

    A context manager that gives the function to call with each step of progress.

    Parameters
    ----------
    title
        The round.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Callable[[Progress], None]:
        self._bar.start()
        return self._show

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def _show(self, step: Progress) -> None:
        if step.stage not in _STAGES or not step.total:
            return
        if step.stage not in self._tasks:
            title = f"{self._title}: {_STAGES[step.stage]}"
            self._tasks[step.stage] = self._bar.add_task(title, total=step.total)
        self._bar.update(self._tasks[step.stage], completed=step.done + 1)
