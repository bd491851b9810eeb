"""Generated series of which it is known where they change."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from regress.stats.exact import Floats

__all__ = ["KINDS", "POINTS", "Kind", "Labelled", "generate"]

POINTS: Final = 100
_NOISE: Final = 0.01
_STEP: Final = 0.05
_EDGE: Final = 20

_Shape = tuple[Floats, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Labelled:
    """Series with the first index after each change.

    Attributes
    ----------
    rounds
        Positive values, one array a series; shape (points, rounds).
    """

    rounds: tuple[Floats, ...]
    changes: tuple[tuple[int, ...], ...]

    @property
    def medians(self) -> tuple[Floats, ...]:
        """One number a point, for detectors that take no more."""
        return tuple(np.median(values, axis=1) for values in self.rounds)


@dataclass(frozen=True, slots=True)
class Kind:
    """How series of a kind are drawn, as logarithms; noise of a round is 1 %.

    Attributes
    ----------
    shape
        The level of every point, and where it changes.
    noise
        Of every point of one round.
    """

    shape: Callable[[np.random.Generator], _Shape]
    noise: Callable[[np.random.Generator], Floats]


def generate(kind: str, number: int, rounds: int, seed: int) -> Labelled:
    """Return series of a kind around 100; equal seeds give equal series."""
    rng, drawn = np.random.default_rng([seed, rounds, list(KINDS).index(kind)]), KINDS[kind]
    values, changes = [], []
    for _ in range(number):
        level, places = drawn.shape(rng)
        noise = np.stack([drawn.noise(rng) for _ in range(rounds)], axis=1)
        values.append(100 * np.exp(level[:, None] + noise))
        changes.append(places)
    return Labelled(tuple(values), tuple(changes))


def _steady(_rng: np.random.Generator) -> _Shape:
    return np.zeros(POINTS), ()


def _steps(*changes: tuple[int, float]) -> _Shape:
    level = np.zeros(POINTS)
    for place, size in changes:
        level[place:] += size
    return level, tuple(place for place, _ in changes)


def _place(rng: np.random.Generator) -> int:
    return int(rng.integers(_EDGE, POINTS - _EDGE))


def _recovered(rng: np.random.Generator) -> _Shape:
    place = _place(rng)
    return _steps((place, _STEP), (place + int(rng.integers(5, 16)), -_STEP))


def _drift(_rng: np.random.Generator) -> _Shape:
    return np.linspace(0, _STEP, POINTS), ()


def _plain(rng: np.random.Generator) -> Floats:
    return rng.normal(0, _NOISE, POINTS)


def _outliers(rng: np.random.Generator) -> Floats:
    """Three points in a hundred are ten percent slower."""
    values = _plain(rng)
    values[rng.choice(POINTS, 3, replace=False)] += 0.1
    return values


def _bimodal(rng: np.random.Generator) -> Floats:
    """One point in five is four percent slower, at random."""
    return _plain(rng) + 0.04 * (rng.random(POINTS) < 0.2)  # noqa: PLR2004 - said above


def _growing(rng: np.random.Generator) -> Floats:
    """From the middle on the noise is three times as large, around the same level."""
    return _plain(rng) * np.where(np.arange(POINTS) < POINTS // 2, 1, 3)


def _one_step(size: float) -> Callable[[np.random.Generator], _Shape]:
    return lambda rng: _steps((_place(rng), size))


KINDS: Final[dict[str, Kind]] = {
    "step of 5 %": Kind(_one_step(_STEP), _plain),
    "step of 2 %": Kind(_one_step(0.02), _plain),
    "5 %, five points before the end": Kind(lambda _: _steps((POINTS - 5, _STEP)), _plain),
    "5 %, recovered after 5 to 15 points": Kind(_recovered, _plain),
    "5 % up, 10 % down, 5 % up": Kind(
        lambda _: _steps((25, _STEP), (50, -2 * _STEP), (75, _STEP)), _plain
    ),
    "step of 5 % among outliers": Kind(_one_step(_STEP), _outliers),
    "step of 5 % in a bimodal series": Kind(_one_step(_STEP), _bimodal),
    "flat": Kind(_steady, _plain),
    "outliers": Kind(_steady, _outliers),
    "bimodal": Kind(_steady, _bimodal),
    "variance changes": Kind(_steady, _growing),
    "drift of 5 %": Kind(_drift, _plain),
}
"""By name; the last five have no change point."""
