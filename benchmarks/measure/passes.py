"""Order and length of measuring: pure decisions, made before anything is timed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Settings", "is_heavy", "pass_order", "samples_for"]

PROTOCOL_VERSION: Final = 1
"""Counts changes of the measuring code that move times."""

_RIDGE: Final = 128.0
"""Operations a byte from which work heats the tensor cores (an H200's ridge point is about 200)."""
_MIN_SAMPLES: Final = 3
_MAX_SAMPLES: Final = 40


@dataclass(frozen=True, slots=True)
class Settings:
    """How long to measure. Times in milliseconds.

    Attributes
    ----------
    passes
        Shuffled passes over all cases. One-sided slow excursions hit single blocks; passes
        spread over the process outvote them.
    block_ms, rest_ms
        Budget of a block of samples, and idle time before it: after a rest power and clocks have
        settled, and a noisy card becomes as quiet as a quiet one.
    heavy_block_ms, heavy_rest_ms
        The same for compute-bound cases, whose rest is kept after them too.
    plan_calls
        plan() calls timed for each case.
    """

    passes: int = 6
    block_ms: float = 7.0
    rest_ms: float = 4.0
    heavy_block_ms: float = 14.0
    heavy_rest_ms: float = 10.0
    plan_calls: int = 7

    @classmethod
    def quick(cls) -> "Settings":
        """Return settings that only show that everything runs."""
        return cls(passes=1, block_ms=1.0, rest_ms=0.0, heavy_block_ms=1.0, heavy_rest_ms=0.0)


def is_heavy(intensity: float) -> bool:
    """Say whether work of this intensity (operations a byte) is compute-bound."""
    return intensity >= _RIDGE


def samples_for(budget_ms: float, sample_us: float) -> int:
    """Return how many samples of this length (flush included) fit in the budget."""
    return max(_MIN_SAMPLES, min(_MAX_SAMPLES, round(budget_ms * 1e3 / max(sample_us, 1e-3))))


def pass_order(heavy: Sequence[bool], draws: random.Random) -> list[int]:
    """Return a random order of range(len(heavy)) with heavy cases spread over the pass.

    Compute-bound blocks one after another drive the card into its power limit. Each heavy case
    has a stretch of the pass of its own, so three in a row are the most, and rare.
    """
    light_order = [i for i, h in enumerate(heavy) if not h]
    heavy_order = [i for i, h in enumerate(heavy) if h]
    draws.shuffle(light_order)
    draws.shuffle(heavy_order)
    slots = [((k + draws.random()) / len(heavy_order), i) for k, i in enumerate(heavy_order)]
    slots += [((k + draws.random()) / len(light_order), i) for k, i in enumerate(light_order)]
    return [i for _, i in sorted(slots)]
