"""Simulated gates in which nothing changed: how often they say something."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Final

import numpy as np

from regress.config import AbRule
from regress.detect.confirm import Confirmed
from regress.detect.screen import Screened
from regress.model.calibration import GateTrace
from regress.model.rates import NullRate
from regress.model.reason import REASONS, ReasonCode
from regress.model.verdict import Verdict
from regress.pipeline.calibrate.gate import Fate, decide_gate, draw_gate
from regress.pipeline.calibrate.setting import Cost, Setting, rate_of

__all__ = ["ACROSS", "HELD_OUT", "POOLED", "NullGate", "NullOutcome", "null_rates", "trace_of"]

POOLED: Final = "pooled"
ACROSS: Final = "across"
HELD_OUT: Final = "held out"
_PURPOSE: Final = {POOLED: 0, ACROSS: 1, HELD_OUT: 7}


@dataclass(frozen=True, slots=True)
class NullOutcome:
    """One gate in which nothing changed.

    Attributes
    ----------
    codes
        Of the confirmed cells.
    noisier
        Cells called VARIANCE.
    families
        Those with a cell called REGRESSION or VARIANCE.
    undecided
        Cells that are not small and UNDECIDED.
    rounds
        Last look of the screening, in rounds a side.
    """

    campaign: str
    codes: Counter[ReasonCode]
    noisier: int
    families: frozenset[str]
    undecided: int
    rounds: int
    seconds: float


@dataclass(frozen=True, slots=True)
class NullGate:
    """Simulates the gate of a number; see `NullRate.draws`."""

    setting: Setting
    draws: str

    def __call__(self, number: int) -> NullOutcome:
        """Draw a gate from its campaign and decide it."""
        setting = self.setting
        source = setting.source(number)
        pools = (source.pool, source.pool)
        if self.draws == ACROSS:
            turned = number // len(setting.sources) % 2
            pools = source.twins[turned], source.twins[1 - turned]
        rng = setting.rng(_PURPOSE[self.draws], number)
        gate, _ = draw_gate(pools, setting.limits, setting.rule, rng)
        fates, confirmed = decide_gate(gate)
        return NullOutcome(
            campaign=source.campaign,
            codes=Counter(told.code for told in confirmed.values()),
            noisier=sum(told.noisier for told in confirmed.values()),
            families=frozenset(
                setting.families[cell]
                for cell, told in confirmed.items()
                if told.noisier or told.code is ReasonCode.SLOWER
            ),
            undecided=sum(_undecided(t) and setting.large[cell] for cell, t in confirmed.items()),
            rounds=max(fate.rounds for fate in fates),
            seconds=_seconds(fates, setting.rule, source.cost),
        )


def _undecided(told: Confirmed) -> bool:
    return REASONS[told.code].verdict is Verdict.UNDECIDED


def _seconds(fates: Sequence[Fate], rule: AbRule, cost: Cost) -> float:
    """Count every look's rounds of the cells that were still open then, and the confirmation."""
    spent = 0.0
    for before, rounds in pairwise((0, *rule.looks)):
        still = sum(fate.rounds >= rounds for fate in fates)
        spent += cost.of(rounds - before, still)
    suspects = sum(fate.outcome is not Screened.EQUAL for fate in fates)
    return spent + cost.of(rule.confirm_rounds, suspects)


def null_rates(
    outcomes: Sequence[NullOutcome], draws: str, families: Iterable[str]
) -> tuple[NullRate, ...]:
    """Return the rates of all gates together, then of each campaign if there are several."""
    campaigns = list(dict.fromkeys(o.campaign for o in outcomes))
    parts = ["", *campaigns] if len(campaigns) > 1 else [""]
    return tuple(
        _rate([o for o in outcomes if part in {"", o.campaign}], draws, part, families)
        for part in parts
    )


def _rate(
    outcomes: Sequence[NullOutcome], draws: str, campaign: str, families: Iterable[str]
) -> NullRate:
    gates = len(outcomes)
    slower = [o.codes[ReasonCode.SLOWER] > 0 for o in outcomes]
    noisier = [o.noisier > 0 for o in outcomes]
    suspects = [o.codes.total() for o in outcomes]
    seconds = [o.seconds for o in outcomes]
    return NullRate(
        draws=draws,
        campaign=campaign,
        gates=gates,
        regression=rate_of(sum(slower), gates),
        improvement=rate_of(sum(o.codes[ReasonCode.FASTER] > 0 for o in outcomes), gates),
        variance=rate_of(sum(noisier), gates),
        alarm=rate_of(sum(a or b for a, b in zip(slower, noisier, strict=True)), gates),
        families={f: rate_of(sum(f in o.families for o in outcomes), gates) for f in families},
        undecided=rate_of(sum(o.undecided > 0 for o in outcomes), gates),
        suspects=rate_of(sum(n > 0 for n in suspects), gates),
        mean_suspects=fmean(suspects),
        mean_rounds=fmean(o.rounds for o in outcomes),
        mean_seconds=fmean(seconds),
        worst_seconds=float(np.quantile(seconds, 0.95)),
    )


def trace_of(outcomes: Sequence[NullOutcome]) -> tuple[GateTrace, ...]:
    """Return what is kept of single gates."""
    return tuple(
        GateTrace(
            number=number,
            campaign=o.campaign,
            suspects=o.codes.total(),
            rounds=o.rounds,
            codes={str(code): count for code, count in sorted(o.codes.items())},
        )
        for number, o in enumerate(outcomes)
    )
