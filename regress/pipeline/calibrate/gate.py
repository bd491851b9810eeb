"""One simulated gate: screening and confirmation, with the functions that `ab` decides with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from regress.config import AbRule
from regress.detect.confirm import Confirmed, Suspect, confirm
from regress.detect.screen import Limits, Screened, look
from regress.stats.exact import Floats
from regress.stats.simulate import Drawn, Pool, Sample

__all__ = ["Fate", "Gate", "decide_gate", "draw_gate"]


@dataclass(frozen=True, slots=True)
class Fate:
    """What the screening made of a cell, and after how many rounds a side."""

    outcome: Screened
    rounds: int

    @property
    def suspect(self) -> bool:
        """Whether the cell is confirmed: it is suspect, or still open after the last look."""
        return self.outcome is not Screened.EQUAL


@dataclass(frozen=True, slots=True)
class Gate:
    """The rounds of a gate: (base, head), each with cells in columns.

    Attributes
    ----------
    screen, fresh
        Rounds of the screening, as many as its last look takes, and of the confirmation.
    limits
        Of each cell.
    """

    screen: tuple[Sample, Sample]
    fresh: tuple[Sample, Sample]
    limits: Sequence[Limits]
    rule: AbRule

    def fate(self, cell: int, shift: float = 0.0) -> Fate:
        """Screen a cell whose head is slower by `shift` on the log scale."""
        base, head = ((side.time[:, cell], side.spread[:, cell]) for side in self.screen)
        fate = Fate(Screened.OPEN, 0)
        for rounds in self.rule.looks:
            time = [(base[0][:rounds], head[0][:rounds] + shift)]
            spread = [(base[1][:rounds], head[1][:rounds])]
            fate = Fate(look(time, spread, self.limits[cell], self.rule).outcome, rounds)
            if fate.outcome is not Screened.OPEN:
                break
        return fate

    def suspect(self, cell: int, rounds: int, shift: float = 0.0) -> Suspect:
        """Return a cell's fresh rounds, and all of them: screened in so many rounds a side."""
        base, head = self.fresh
        time: tuple[Floats, Floats] = (base.time[:, cell], head.time[:, cell] + shift)
        spread = (base.spread[:, cell], head.spread[:, cell])
        seen = self.screen[0].time[:rounds, cell], self.screen[1].time[:rounds, cell] + shift
        every = [np.concatenate(side) for side in zip(seen, time, strict=True)]
        return Suspect([time], [spread], [(every[0], every[1])], self.limits[cell])

    def confirmed(self, shifts: Mapping[int, float]) -> dict[int, Confirmed]:
        """Confirm these cells together, each with its shift."""
        suspects = [
            self.suspect(cell, self.fate(cell, shift).rounds, shift)
            for cell, shift in shifts.items()
        ]
        return dict(zip(shifts, confirm(suspects, self.rule), strict=True))


def draw_gate(
    pools: tuple[Pool, Pool], limits: Sequence[Limits], rule: AbRule, rng: np.random.Generator
) -> tuple[Gate, tuple[Drawn, Drawn]]:
    """Draw the rounds of a gate, base from the first pool and head from the second.

    Also returns what was drawn of head (screening, confirmation), to plant other things there.
    """
    sizes = rule.looks[-1], rule.confirm_rounds
    base, head = (tuple(pool.draw(size, rng) for size in sizes) for pool in pools)
    screen, fresh = (
        (b.of(pools[0].values), h.of(pools[1].values)) for b, h in zip(base, head, strict=True)
    )
    return Gate(screen, fresh, limits, rule), (head[0], head[1])


def decide_gate(gate: Gate) -> tuple[tuple[Fate, ...], dict[int, Confirmed]]:
    """Return every cell's fate, and what the confirmation says of the suspects."""
    fates = tuple(gate.fate(cell) for cell in range(len(gate.limits)))
    suspects = {cell: 0.0 for cell, fate in enumerate(fates) if fate.suspect}
    return fates, gate.confirmed(suspects)
