"""Other rules and ours on the same simulated rounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p
from typing import Final

import numpy as np
from numpy.typing import NDArray

from regress.config import TimeRule
from regress.detect.decide import Bounds, decide
from regress.detect.rules import RULES
from regress.model.rates import RuleRate
from regress.model.reason import ReasonCode
from regress.pipeline.calibrate.gate import Gate, draw_gate
from regress.pipeline.calibrate.power import PLANTED
from regress.pipeline.calibrate.setting import Setting, rate_of
from regress.stats.exact import Floats

__all__ = ["AB", "CHECK", "COMPARED", "RulesGate", "rule_rates"]

AB: Final = "ab (ours)"
CHECK: Final = "check (ours)"
COMPARED: Final = ("+1%", "+2%", "+3%", "+5%")
_CHECK_ROUNDS: Final = (6, 10)
_PURPOSE: Final = 5

_Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RulesGate:
    """Asks every rule about the gate of a number.

    Attributes
    ----------
    bounds, rule
        Of each cell, and what `check` judges with.
    planted
        Slow-downs to plant, in all cells at once: the rules but ours look at cells singly.
    """

    setting: Setting
    bounds: tuple[Bounds, ...]
    rule: TimeRule
    planted: tuple[str, ...]

    def __call__(self, number: int) -> dict[str, _Bools]:
        """Return by rule (name and rounds) what is called slower: (1 + planted, cells)."""
        setting = self.setting
        source = setting.source(number)
        rng = setting.rng(_PURPOSE, number)
        pools = source.pool, source.pool
        gate, _ = draw_gate(pools, setting.limits, setting.rule, rng)
        most = max(n for rule in RULES for n in rule.rounds)
        base, head = (pool.draw(most, rng).passes(source.passes) for pool in pools)
        found: dict[str, list[_Bools]] = {}
        for shift in (0.0, *(log1p(PLANTED[name]) for name in self.planted)):
            moved = head + shift
            for rule in RULES:
                for rounds in rule.rounds:
                    called = rule.slower(np.exp(base[:rounds]), np.exp(moved[:rounds]))
                    found.setdefault(_key(rule.name, rounds), []).append(called)
            for rounds in _CHECK_ROUNDS:
                called = self._check(base[:rounds], moved[:rounds])
                found.setdefault(_key(CHECK, rounds), []).append(called)
            found.setdefault(_key(AB, _ab_rounds(setting)), []).append(_ab(gate, shift))
        return {name: np.array(rows) for name, rows in found.items()}

    def _check(self, base: Floats, head: Floats) -> _Bools:
        before, after = (np.exp(np.median(side, axis=2)).T.tolist() for side in (base, head))
        codes = [
            decide(((tuple(b), tuple(h)),), self.rule, bounds, None).code
            for b, h, bounds in zip(before, after, self.bounds, strict=True)
        ]
        return np.array([code is ReasonCode.SLOWER for code in codes])


def _key(name: str, rounds: int | str) -> str:
    return f"{name}|{rounds}"


def _ab_rounds(setting: Setting) -> str:
    looks = setting.rule.looks
    return f"{looks[0]} to {looks[-1]}, then {setting.rule.confirm_rounds}"


def _ab(gate: Gate, shift: float) -> _Bools:
    """Return which cells are called slower if all are, each confirmed with all suspects."""
    cells = range(len(gate.limits))
    told = gate.confirmed({c: shift for c in cells if gate.fate(c, shift).suspect})
    return np.array([c in told and told[c].code is ReasonCode.SLOWER for c in cells])


def rule_rates(
    null: Sequence[dict[str, _Bools]], power: Sequence[dict[str, _Bools]]
) -> tuple[RuleRate, ...]:
    """Return the rules' rates: false alarms from the first row of all, power from the others.

    Parameters
    ----------
    null
        Outcomes with nothing planted.
    power
        Outcomes with all of `COMPARED` planted.
    """
    told = []
    for key in power[0]:
        name, rounds = key.split("|")
        alarms = np.array([outcome[key][0] for outcome in (*null, *power)])
        found = np.array([outcome[key][1:] for outcome in power])
        told.append(
            RuleRate(
                rule=name,
                rounds=rounds,
                cells=rate_of(int(alarms.sum()), alarms.size),
                gates=rate_of(int(alarms.any(axis=1).sum()), len(alarms)),
                power={
                    planted: rate_of(int(found[:, n].sum()), found[:, n].size)
                    for n, planted in enumerate(COMPARED)
                },
            )
        )
    return tuple(told)
