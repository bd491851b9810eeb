"""What SMs do over time, cut into cells that a terminal or a picture can show."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from rich.text import Text

from workloads.simulator import Simulation

__all__ = ["TIMELINE_KEY", "Stretch", "of_longest", "render_timeline", "stretches"]

Floats = npt.NDArray[np.float64]
_SHADES: Final = " ░▒▓█"
TIMELINE_KEY: Final = "L: the longest request on some SM of the row; ░▒▓█: share of SMs busy"
_ROWS: Final = 12
_COLUMNS: Final = 72
_FEW: Final = 4
_LONG: Final = "#D55E00"
_OTHER: Final = "#0072B2"


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of time in which one SM holds the same number of CTAs.

    Attributes
    ----------
    begin_us, end_us
        In microseconds from the start of the first CTA.
    crowd
        CTAs that the SM holds.
    """

    sm: int
    begin_us: float
    end_us: float
    crowd: int


def stretches(run: Simulation, chosen: npt.NDArray[np.bool_] | None = None) -> tuple[Stretch, ...]:
    """Return what each SM holds over time, without idle stretches.

    Parameters
    ----------
    chosen
        Which CTAs to count, shape (ctas,); None for all.
    """
    picked = np.ones(len(run.request), bool) if chosen is None else chosen
    sm, start, end = (a[picked] for a in (run.run.sm, run.run.start_us, run.run.end_us))
    at, where = np.concatenate((end, start)), np.concatenate((sm, sm))
    change = np.repeat((-1, 1), len(sm))
    order = np.lexsort((change, at, where))
    at, where, crowd = at[order], where[order], np.cumsum(change[order])
    kept = np.flatnonzero((crowd[:-1] > 0) & (np.diff(at) > 0) & (np.diff(where) == 0))
    return tuple(
        Stretch(int(where[i]), float(at[i]), float(at[i + 1]), int(crowd[i])) for i in kept
    )


def of_longest(run: Simulation) -> npt.NDArray[np.bool_]:
    """Return which CTAs work for the longest request, or for a few that are as long."""
    lengths = run.plan.batch.tokens()
    longest = np.flatnonzero(lengths == lengths.max())
    return np.isin(run.request, longest if len(longest) <= _FEW else longest[:1])


def render_timeline(run: Simulation) -> Text:
    """Return the timeline for a terminal: rows of several SMs, shaded by how busy they are.

    Cells in which the longest request runs are of another colour, and marked `L` where it keeps
    at least one SM of the row.
    """
    sms, rows = run.device.sms, min(_ROWS, run.device.sms)
    busy = _grid(run, stretches(run), rows)
    long = _grid(run, stretches(run, of_longest(run)), rows)
    text = Text()
    edges = np.arange(rows + 1) * sms // rows
    for row in range(rows):
        text.append(f"  SM {edges[row]:>3}-{edges[row + 1] - 1:<3} ")
        for column in range(_COLUMNS):
            share = busy[row, column]
            if long[row, column] > 0 and share > 0:
                text.append("L", style=f"bold {_LONG}")
            else:
                shade = _SHADES[int(np.ceil(share * (len(_SHADES) - 1) - 1e-9))]
                text.append(shade, style=_OTHER)
        text.append("\n")
    text.append(f"  {'':11}0{run.makespan_us:>{_COLUMNS - 4},.0f} us\n")
    return text


def _grid(run: Simulation, found: tuple[Stretch, ...], rows: int) -> Floats:
    """Return the share of SMs in a row that hold a CTA in a column's time."""
    sms, step = run.device.sms, run.makespan_us / _COLUMNS
    begins = np.arange(_COLUMNS) * step
    shares = np.zeros((rows, _COLUMNS))
    edges = np.arange(rows + 1) * sms // rows
    for one in found:
        row = int(np.searchsorted(edges, one.sm, side="right")) - 1
        overlap = np.minimum(one.end_us, begins + step) - np.maximum(one.begin_us, begins)
        shares[row] += np.clip(overlap, 0, None)
    return np.clip(shares / (np.diff(edges)[:, None] * step), 0, 1)
