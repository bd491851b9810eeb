"""Simulated gates whose head is slow in some passes only: VARIANCE, or REGRESSION."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from regress.model.rates import Power, Scenario
from regress.model.reason import ReasonCode
from regress.pipeline.calibrate.data import Stratum
from regress.pipeline.calibrate.gate import Gate, draw_gate
from regress.pipeline.calibrate.setting import Setting, rate_of
from regress.stats.simulate import Sample
from workloads.record import CaseRecord

__all__ = ["HIDDEN", "HiddenGate", "hidden_power", "slowed"]

HIDDEN: Final = {
    "1/6 of passes +5%": 1 / 6,
    "1/3 of passes +5%": 1 / 3,
    "1/2 of passes +5%": 1 / 2,
}
"""Shares of a round's passes that are slow."""
_SLOWER: Final = 1.05
_PURPOSE: Final = 3


def slowed(stratum: Stratum, share: float, rng: np.random.Generator) -> Sample:
    """Return the statistics of a campaign's rounds if some of their passes had been slow.

    Which ones is drawn for each record; time and spread are read from the changed record.
    """
    return stratum.values(
        {case: [_slow(r, share, rng) for r in stratum.records(case)] for case in stratum.cases}
    )


def _slow(record: CaseRecord, share: float, rng: np.random.Generator) -> CaseRecord:
    count = len(record.kernel_us)
    hit = set(rng.choice(count, size=round(share * count), replace=False).tolist())
    times = tuple(us * _SLOWER if n in hit else us for n, us in enumerate(record.kernel_us))
    return msgspec.structs.replace(record, kernel_us=times)


@dataclass(frozen=True, slots=True)
class HiddenGate:
    """Plants slow passes in one cell of head after the other.

    Attributes
    ----------
    planted
        By campaign of the setting, then by `HIDDEN`: what the rounds of its pool would give.
    """

    setting: Setting
    planted: tuple[tuple[Sample, ...], ...]

    def __call__(self, number: int) -> NDArray[np.bool_]:
        """Return of every share and cell whether VARIANCE or REGRESSION was said."""
        setting = self.setting
        source = number % len(setting.sources)
        pool = setting.sources[source].pool
        rng = setting.rng(_PURPOSE, number)
        gate, drawn = draw_gate((pool, pool), setting.limits, setting.rule, rng)
        found = []
        for values in self.planted[source]:
            screen, fresh = (
                (sides[0], d.of(values))
                for sides, d in zip((gate.screen, gate.fresh), drawn, strict=True)
            )
            changed = Gate(screen, fresh, gate.limits, gate.rule)
            found.append([_is_found(changed, cell) for cell in range(len(setting.cases))])
        return np.array(found)


def _is_found(gate: Gate, cell: int) -> bool:
    if not gate.fate(cell).suspect:
        return False
    told = gate.confirmed({cell: 0.0})[cell]
    return told.noisier or told.code is ReasonCode.SLOWER


def hidden_power(
    outcomes: Sequence[NDArray[np.bool_]], groups: Mapping[str, Sequence[int]]
) -> tuple[Power, ...]:
    """Return the power against slow passes in each group of cells."""
    found = np.array(outcomes)
    return tuple(
        Power(
            planted,
            Scenario.ALONE,
            group,
            rate_of(int(found[:, row, list(cells)].sum()), found[:, row, list(cells)].size),
        )
        for row, planted in enumerate(HIDDEN)
        for group, cells in groups.items()
    )
