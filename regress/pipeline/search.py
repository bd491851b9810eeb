"""How a bisection, of releases or of batches, has its stages measured."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workloads.stage import StagePlan

__all__ = ["Search"]


@dataclass(frozen=True, slots=True)
class Search:
    """How the stages of a bisection are to be measured.

    Attributes
    ----------
    measure
        Measures a stage and returns when its rounds are written.
    directory
        Where round files go.
    run
        Id of a new bisection.
    machine
        The user's name for this machine; None to make one from the GPU model.
    anew
        Whether to leave a bisection that was broken off as it is.
    """

    measure: Callable[[StagePlan], None]
    directory: Path
    run: str
    machine: str | None = None
    anew: bool = False
