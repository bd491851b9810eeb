"""How text is laid out: width, colour, and the words for ratios."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Final

from rich.console import Console
from rich.table import Table

from regress.errors import ExitCode
from regress.model.finding import Ratio

__all__ = ["EXIT_STYLES", "View", "render_ratio", "render_table"]

EXIT_STYLES: Final = {
    ExitCode.PASS: "bold green",
    ExitCode.REGRESSION: "bold red",
    ExitCode.UNDECIDED: "bold yellow",
    ExitCode.NO_DATA: "bold yellow",
}
"""How a headline is shown."""


@dataclass(frozen=True, slots=True)
class View:
    """What the reader's terminal can show and how much is wanted.

    Attributes
    ----------
    width
        Columns; wide, because a table row that is cut says nothing and lines wrap by themselves.
    color
        Whether escape codes are understood.
    everything
        Whether to list what is normally folded.
    """

    width: int = 200
    color: bool = False
    everything: bool = False

    def draw(self, write: Callable[[Console], None]) -> str:
        """Return what `write` prints."""
        out = StringIO()
        console = Console(
            file=out,
            width=self.width,
            force_terminal=self.color,
            no_color=not self.color,
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
        write(console)
        return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def render_ratio(ratio: Ratio) -> str:
    """Return e.g. `1.034x [1.031, 1.038]`; an unbounded end is `?`."""
    low, high = ("?" if end is None else f"{end:.3f}" for end in (ratio.low, ratio.high))
    return f"{ratio.estimate:.3f}x [{low}, {high}]"


def render_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a plain table: the first column to the left, the others to the right."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    for number, title in enumerate(header):
        table.add_column(title, justify="left" if number == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table
