"""What all pictures share: matplotlib, if it is there, and SVG that is equal for equal data."""

from importlib import import_module
from io import StringIO
from typing import Any, Final

from regress.errors import UsageError

__all__ = ["MARK", "as_svg", "drawing"]

MARK: Final = "data sha256 "
"""Stands before the fingerprint in a picture."""
_SETTINGS: Final = {"font.size": 9.5, "axes.titlesize": 10.5, "svg.hashsalt": "attention-regress"}


def drawing() -> tuple[Any, Any]:
    """Return our settings of matplotlib, as a context, and its module of figures.

    Raises
    ------
    UsageError
        If matplotlib is not installed.
    """
    try:
        # Not an import statement: types must check with and without the optional extra.
        matplotlib, figure = import_module("matplotlib"), import_module("matplotlib.figure")
    except ImportError as error:
        msg = "drawing needs matplotlib: `pip install -e '.[plot]'`"
        raise UsageError(msg) from error
    return matplotlib.rc_context(_SETTINGS), figure


def as_svg(canvas: Any, fingerprint: str) -> str:
    """Return a figure as SVG that tells what it was drawn from, and never the time."""
    out = StringIO()
    told = {"Date": None, "Description": f"{MARK}{fingerprint}"}
    canvas.savefig(out, format="svg", metadata=told)
    # matplotlib ends some lines with blanks.
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())
