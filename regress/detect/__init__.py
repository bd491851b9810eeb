"""Detectors: each looks at cells for one thing and says findings. One a file."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from regress.config import Config
from regress.detect.ab import detect_kernel_time, detect_plan_time
from regress.detect.correctness import detect_correctness
from regress.detect.coverage import detect_coverage
from regress.detect.spread import detect_spread
from regress.model.cell import Cell
from regress.model.finding import Finding

__all__ = ["DETECTORS", "Detector"]

Detector = Callable[[Sequence[Cell], Config], Iterable[Finding]]
"""Sees all cells at once, so that it can account for their number."""

DETECTORS: Final[tuple[Detector, ...]] = (
    detect_coverage,
    detect_correctness,
    detect_kernel_time,
    detect_plan_time,
    detect_spread,
)
