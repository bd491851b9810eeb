"""Simulated gates with planted changes: how often they are found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import expm1, inf, log1p
from typing import Final

import numpy as np
from numpy.typing import NDArray

from regress.model.rates import Power, Scenario
from regress.model.reason import ReasonCode
from regress.pipeline.calibrate.gate import Gate, draw_gate
from regress.pipeline.calibrate.setting import Setting, rate_of

__all__ = ["FLOORS", "PLANTED", "PowerGate", "PowerOutcome", "detectable", "power_of"]

PLANTED: Final = {
    "+0.5%": 0.005,
    "+1%": 0.01,
    "+1.5%": 0.015,
    "+2%": 0.02,
    "+3%": 0.03,
    "+5%": 0.05,
}
"""Relative slow-downs of every cell."""
FLOORS: Final = "1.5 floors"
_FLOORS: Final = 1.5
_PURPOSE: Final = 2
_MOST_FLOORS: Final = 4.0
_HALVINGS: Final = 8

_Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PowerOutcome:
    """What one draw finds.

    Attributes
    ----------
    found
        By scenario: (planted changes, cells), whether REGRESSION was said.
    least
        Of each cell, the smallest slow-down on the log scale that is found; infinite if even
        `_MOST_FLOORS` floors are not.
    """

    found: dict[Scenario, _Bools]
    least: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PowerGate:
    """Plants every change in the gate of a number, in one cell, in a family, in all cells."""

    setting: Setting

    def __call__(self, number: int) -> PowerOutcome:
        """Draw a gate from its campaign and plant changes in its head."""
        setting = self.setting
        pool = setting.source(number).pool
        rng = setting.rng(_PURPOSE, number)
        gate, _ = draw_gate((pool, pool), setting.limits, setting.rule, rng)
        cells = range(len(setting.cases))
        quiet = _suspects(gate, dict.fromkeys(cells, 0.0))
        rows: dict[Scenario, list[list[bool]]] = {scenario: [] for scenario in Scenario}
        for shifts in _shifts(setting):
            moved = _suspects(gate, shifts)
            rows[Scenario.ALONE].append(
                [cell in moved and _found(gate, moved, quiet, {cell})[0] for cell in cells]
            )
            rows[Scenario.FAMILY].append(_by_family(gate, moved, quiet, setting.families))
            rows[Scenario.ALL].append(_found(gate, moved, quiet, set(cells)))
        found = {scenario: np.array(found) for scenario, found in rows.items()}
        return PowerOutcome(found, tuple(_least(gate, cell) for cell in cells))


def _shifts(setting: Setting) -> Iterator[dict[int, float]]:
    """Every planted change as shifts by cell, `FLOORS` last."""
    for planted in PLANTED.values():
        yield dict.fromkeys(range(len(setting.cases)), log1p(planted))
    yield {cell: log1p(_FLOORS * limits.floor) for cell, limits in enumerate(setting.limits)}


def _suspects(gate: Gate, shifts: Mapping[int, float]) -> dict[int, float]:
    """Return the shifts of those cells that the screening does not call equal."""
    return {cell: s for cell, s in shifts.items() if gate.fate(cell, s).suspect}


def _found(
    gate: Gate, moved: Mapping[int, float], quiet: Mapping[int, float], planted: set[int]
) -> list[bool]:
    """Return of every planted cell, in order, whether it is called slower.

    The other cells are as they were, and what is suspect of them is confirmed, too.
    """
    family = {cell: s for cell, s in moved.items() if cell in planted}
    family |= {cell: s for cell, s in quiet.items() if cell not in planted}
    told = gate.confirmed(family)
    return [cell in told and told[cell].code is ReasonCode.SLOWER for cell in sorted(planted)]


def _by_family(
    gate: Gate, moved: Mapping[int, float], quiet: Mapping[int, float], families: Sequence[str]
) -> list[bool]:
    found = [False] * len(families)
    for family in dict.fromkeys(families):
        planted = {cell for cell, name in enumerate(families) if name == family}
        for cell, hit in zip(sorted(planted), _found(gate, moved, quiet, planted), strict=True):
            found[cell] = hit
    return found


def _least(gate: Gate, cell: int) -> float:
    """Bisect for the smallest shift that is found when the cell alone is suspect."""
    low, high = 0.0, log1p(_MOST_FLOORS * gate.limits[cell].floor)
    if not _is_found(gate, cell, high):
        return inf
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _is_found(gate, cell, middle) else (middle, high)
    return high


def _is_found(gate: Gate, cell: int, shift: float) -> bool:
    told = gate.confirmed({cell: shift})[cell]
    return told.code is ReasonCode.SLOWER and gate.fate(cell, shift).suspect


def power_of(
    outcomes: Sequence[PowerOutcome], groups: Mapping[str, Sequence[int]]
) -> tuple[Power, ...]:
    """Return the power in each group of cells."""
    told = []
    for scenario in Scenario:
        found = np.array([o.found[scenario] for o in outcomes])
        for row, planted in enumerate((*PLANTED, FLOORS)):
            for group, cells in groups.items():
                hits = found[:, row, list(cells)]
                rate = rate_of(int(hits.sum()), hits.size)
                told.append(Power(planted, scenario, group, rate))
    return tuple(told)


def detectable(outcomes: Sequence[PowerOutcome], share: float) -> list[float | None]:
    """Return of each cell the slow-down that this share of gates finds, relative."""
    least = np.array([o.least for o in outcomes])
    quantiles = np.quantile(least, share, axis=0, method="inverted_cdf")
    return [expm1(float(q)) if np.isfinite(q) else None for q in quantiles]
