"""Detectors of change points, for comparison. One a file.

Every one takes series of positive numbers, of shape (points, rounds), and returns the first index
after each change; those of other tools take the median of a point's rounds.
"""

from collections.abc import Callable, Sequence
from typing import Final

from regress.config import HistoryRule
from regress.detect.change_points.asv import asv_points
from regress.detect.change_points.kernel import kernel_points
from regress.detect.change_points.pelt import pelt_points
from regress.detect.change_points.windows import window_points
from regress.stats.exact import Floats

__all__ = ["DETECTORS", "Detector", "Points"]

Points = list[list[int]]
Detector = Callable[[Sequence[Floats], HistoryRule], Points]

DETECTORS: Final[dict[str, tuple[Detector, str]]] = {
    "history, steps": (
        window_points,
        "exact tests between windows, size three times the noise, a kind as one history",
    ),
    "history, segments": (kernel_points, "KernelCPD, linear kernel, penalty as configured"),
    "PELT": (pelt_points, "ruptures, l2 cost, penalty 2 ln(n) times the noise's variance (BIC)"),
    "asv": (asv_points, "asv.step_detect.detect_steps, as its site uses it"),
}
"""By name, with what each one runs with."""
