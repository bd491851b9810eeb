"""Confirmation: fresh rounds of the suspects, tested as one family.

Whatever the screening did, the suspects are fixed before the confirming rounds are measured, so
the error rate of these tests is that of the whole run (data splitting). Each test is exact, and
Holm's adjustment holds however the cells depend on each other, as cells of one process do.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import log1p
from typing import NamedTuple

from msgspec.structs import replace

from regress.config import AbRule, Config
from regress.detect.ab import judged
from regress.detect.decide import measured_of, rounds_needed, rounds_of, strata_of
from regress.detect.evidence import changes, cycles_ratio
from regress.detect.screen import Limits, limits_of
from regress.detect.spread import spread_finding
from regress.model.cell import Cell, value
from regress.model.finding import Finding, Measured, Metric, RoundIds, Series
from regress.model.reason import REASONS, Reason, ReasonCode
from regress.stats.exact import Strata, p_greater, swapped
from regress.stats.holm import holm
from regress.stats.shift import Shift, shift

__all__ = ["Confirmed", "PValues", "Suspect", "confirm", "detect_confirmed"]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A cell to be confirmed.

    Attributes
    ----------
    time, spread
        Of its fresh rounds, with values on each side.
    every
        Its times in all rounds, those of the screening too. They serve the claim of equality
        alone, which is no part of the guarantee; that they were seen before makes it harder.
    """

    time: Strata
    spread: Strata
    every: Strata
    limits: Limits


class PValues(NamedTuple):
    """Of one suspect: exact and one-sided, and the same adjusted for all suspects.

    Slower and faster are beyond the margin; noisier is a growth of the spread.
    """

    slower: float
    faster: float
    adjusted_slower: float
    adjusted_faster: float
    adjusted_noisier: float


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What the confirmation says of a suspect.

    Attributes
    ----------
    code
        Of its time.
    noisier
        Whether its spread is shown to have grown.
    found
        Shift of its time: of all rounds if that is what was asked last, else of the fresh ones.
    """

    code: ReasonCode
    noisier: bool
    found: Shift
    p: PValues


def confirm(suspects: Sequence[Suspect], rule: AbRule) -> tuple[Confirmed, ...]:
    """Decide about all suspects of a run together."""
    slower = [p_greater(s.time, log1p(s.limits.margin)) for s in suspects]
    faster = [p_greater(swapped(s.time), log1p(s.limits.margin)) for s in suspects]
    noisier = [p_greater(s.spread, log1p(s.limits.spread)) for s in suspects]
    columns = zip(slower, faster, holm(slower), holm(faster), holm(noisier), strict=True)
    return tuple(
        _decide(suspect, PValues(*row), rule)
        for suspect, row in zip(suspects, columns, strict=True)
    )


def _decide(suspect: Suspect, p: PValues, rule: AbRule) -> Confirmed:
    found = shift(suspect.time, rule.equivalence_alpha)
    if p.adjusted_slower <= rule.family_alpha:
        code = ReasonCode.SLOWER
    elif p.adjusted_faster <= rule.family_alpha:
        code = ReasonCode.FASTER
    elif min(p.slower, p.faster) <= rule.screen_alpha:
        code = ReasonCode.NOT_CONFIRMED
    else:
        found = shift(suspect.every, rule.equivalence_alpha)
        equal = max(abs(found.low), abs(found.high)) <= log1p(suspect.limits.floor)
        code = ReasonCode.EQUIVALENT if equal else ReasonCode.WIDE_INTERVAL
    return Confirmed(code, p.adjusted_noisier <= rule.spread_alpha, found, p)


def detect_confirmed(
    cells: Sequence[Cell], every: Sequence[Cell], config: Config
) -> Iterator[Finding]:
    """Say what the confirming rounds show of each suspect.

    Parameters
    ----------
    cells
        Suspects with their fresh rounds; each must have times on both sides.
    every
        The same with all of their rounds.
    """
    suspects = [
        Suspect(
            _strata(cell, Metric.KERNEL_TIME),
            _strata(cell, Metric.SPREAD),
            _strata(whole, Metric.KERNEL_TIME),
            limits_of(cell, config),
        )
        for cell, whole in zip(cells, every, strict=True)
    ]
    confirmed = confirm(suspects, config.ab)
    for cell, whole, suspect, told in zip(cells, every, suspects, confirmed, strict=True):
        equality = told.code in {ReasonCode.EQUIVALENT, ReasonCode.WIDE_INTERVAL}
        yield _time_finding(whole if equality else cell, suspect, told, config)
        if told.noisier:
            yield spread_finding(cell, config, told.p.adjusted_noisier)


def _strata(cell: Cell, metric: Metric) -> Strata:
    return strata_of(cell.pairs(partial(value, metric=metric)))


def _time_finding(cell: Cell, suspect: Suspect, told: Confirmed, config: Config) -> Finding:
    pairs = cell.pairs(partial(value, metric=Metric.KERNEL_TIME))
    noise, limits = cell.noise.get(Metric.KERNEL_TIME), suspect.limits
    p_values = told.p.slower, told.p.faster
    measured = measured_of(pairs, told.found, noise, (limits.floor, limits.margin), p_values)
    code, rounds = judged(told.code, cell), rounds_of(pairs)
    wide = code is ReasonCode.WIDE_INTERVAL
    fresh = "" if wide or code is ReasonCode.EQUIVALENT else " fresh"
    needed = rounds_needed(told.found, rounds, limits.floor, config.ab.most_rounds)
    measured = replace(
        measured,
        rounds_needed=needed if wide else None,
        cycles=cycles_ratio(cell, config.ab.equivalence_alpha),
        p_adjusted=min(told.p.adjusted_slower, told.p.adjusted_faster),
    )
    return Finding(
        detector="ab",
        family=cell.family,
        series=Series(cell.case, Metric.KERNEL_TIME),
        verdict=REASONS[code].verdict,
        reason=Reason(code, f"{_message(code, measured)}, {rounds}{fresh} rounds a side"),
        rounds=RoundIds(cell.base.ids(), cell.head.ids()),
        measured=measured,
        evidence=changes(cell, config.evidence),
    )


def _message(code: ReasonCode, measured: Measured) -> str:
    confirmed = f"beyond {measured.margin:.1%}, p = {measured.p_adjusted:.2g} adjusted"
    cure = (
        f"about {measured.rounds_needed} rounds a side would decide"
        if measured.rounds_needed
        else "too near the floor or too noisy for more rounds to decide"
    )
    return {
        ReasonCode.SLOWER: f"confirmed slower {confirmed}",
        ReasonCode.FASTER: f"confirmed faster {confirmed}",
        ReasonCode.NOISE_ALARM: f"the same kernel, yet times differ {confirmed}",
        ReasonCode.NOT_CONFIRMED: f"a shift hinted at, not confirmed {confirmed}",
        ReasonCode.EQUIVALENT: f"suspected, then shown equal within {measured.floor:.1%}",
        ReasonCode.WIDE_INTERVAL: f"not shown equal within {measured.floor:.1%}; {cure}",
    }[code]
