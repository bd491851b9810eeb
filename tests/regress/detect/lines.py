"""Synthetic lines: made-up times of a planner that stops splitting at a threshold."""

from collections.abc import Iterable

import numpy as np

from regress.model.line import Axis, Line, Point
from workloads.backend import Mode

AXIS = Axis("decode-h32x4-d128-bf16-p16", 262_144, "flashinfer-decode-tc-fa2", Mode.EAGER, "skew40")
UNIFORM_US, ALONE_US = 100.0, 1000.0


def skewed_us(batch: int, threshold: int) -> float:
    """Splits become fewer as the batch nears the threshold; the long request sets the pace."""
    splits = max(threshold - batch, 0) + 1
    return max(UNIFORM_US * 1.01, ALONE_US / splits)


def line(  # noqa: PLR0913 - what a test may vary
    threshold: int,
    batches: Iterable[int],
    *,
    rounds: int = 6,
    facts: bool = True,
    timed: bool = True,
    factor: float = 1.0,
) -> Line:
    """A line with 0.3 % noise between rounds; `factor` makes the skewed batches slower."""
    draws = np.random.default_rng(threshold)

    def times(us: float) -> dict[str, tuple[float, ...]]:
        noisy = us * np.exp(draws.normal(0, 0.003, rounds))
        return {"c1": tuple(map(float, noisy))} if timed else {}

    points = tuple(
        Point(
            batch,
            batch < threshold if facts else None,
            times(UNIFORM_US),
            times(factor * skewed_us(batch, threshold)),
        )
        for batch in batches
    )
    return Line(AXIS, points, tuple(f"r{n}" for n in range(rounds)))
