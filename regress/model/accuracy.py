"""How far the model of time is off on recorded decode cells."""

import msgspec

__all__ = ["LONG_US", "Accuracy", "BackendError", "Ranking"]

LONG_US = 50.0
"""Below, in microseconds, launch overhead dominates: such cells are counted apart."""


class BackendError(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Errors, as |predicted / measured - 1|, of one backend over all recorded stacks.

    Attributes
    ----------
    path
        What the backend runs, see `workloads.planner.Plan`; `auto` runs several.
    cells
        Cells (of one stack each) of at least `LONG_US`.
    median, most, worst
        Median, 90th percentile and largest error of them.
    short_cells, short_median
        Faster cells, and their median error; None without any.
    """

    backend: str
    path: str
    cells: int
    median: float
    most: float
    worst: float
    short_cells: int
    short_median: float | None


class Ranking(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often the backend that the model puts first is the fastest measured one.

    Attributes
    ----------
    workloads
        Workloads of a stack with two or more backends measured.
    exact
        In how many it is the very fastest.
    right
        In how many it is at most `tie` slower than the fastest: such backends count as equal.
    worst
        By how much it is slower where it is most.
    """

    workloads: int
    exact: int
    right: int
    tie: float
    worst: float


class Accuracy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The model held against recorded rounds of one machine.

    Attributes
    ----------
    stacks
        Tags of the stacks with recorded decode cells.
    median
        Median error over all cells of at least `LONG_US`.
    """

    gpu: str
    stacks: tuple[str, ...]
    rounds: int
    median: float
    backends: tuple[BackendError, ...]
    ranking: Ranking
