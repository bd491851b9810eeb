"""Detectors of shapes: each looks at curves of uniform batches for one thing."""

from collections.abc import Callable, Iterable
from typing import Final

from regress.config import ThresholdsRule
from regress.detect.shape_cost import detect_cost
from regress.detect.shape_drift import detect_drift
from regress.detect.shape_linearity import detect_linearity
from regress.detect.shape_peak import detect_peak
from regress.detect.shape_ripple import detect_ripple
from regress.model.line import Curves
from regress.model.shape import ShapeFinding

__all__ = ["SHAPE_DETECTORS", "detect_shapes"]

ShapeDetector = Callable[[Curves, Curves | None, ThresholdsRule], Iterable[ShapeFinding]]

SHAPE_DETECTORS: Final[tuple[ShapeDetector, ...]] = (
    detect_linearity,
    detect_ripple,
    detect_drift,
    detect_cost,
    detect_peak,
)


def detect_shapes(
    head: Curves, base: Curves | None, rule: ThresholdsRule
) -> tuple[ShapeFinding, ...]:
    """Return what every detector says; drift needs a base."""
    return tuple(found for detect in SHAPE_DETECTORS for found in detect(head, base, rule))
