"""What the suite is meant to reach, and whether the simulation says that it does."""

from collections.abc import Iterator, Sequence
from typing import Final

from regress.counted import bounded
from regress.model.calibration import CampaignUsed, Target
from regress.model.rates import Group, NullRate, Power, Rate, RuleRate, Scenario
from regress.pipeline.calibrate.null import ACROSS
from regress.pipeline.calibrate.power import FLOORS
from regress.pipeline.calibrate.rules import AB

__all__ = ["ALL_SMALL", "beaten_by", "targets"]

ALL_SMALL: Final = "all small"
"""Name of the group of all cells that are not large."""

_ALARMS: Final = 0.01
_UNDECIDED: Final = 0.02
_ROUNDS: Final = 40
_CAMPAIGNS: Final = 3
_POWER: Final = (
    ("+1%", Group.QUIET, 0.95),
    ("+2%", Group.QUIET, 0.99),
    ("+1.5%", Group.SMALL, 0.80),
    (FLOORS, Group.NOISY, 0.99),
)


def targets(
    campaigns: Sequence[CampaignUsed],
    null: Sequence[NullRate],
    power: Sequence[Power],
    rules: Sequence[RuleRate],
) -> tuple[Target, ...]:
    """Return every target with what was found."""
    return (
        _recorded(campaigns),
        *_null(null),
        *_power(power),
        _unbeaten(rules),
    )


def _recorded(campaigns: Sequence[CampaignUsed]) -> Target:
    drawn = [c.drawn_from for c in campaigns if c.drawn_from]
    return Target(
        "A/A rounds to draw gates from",
        f"{_ROUNDS} from {_CAMPAIGNS} campaigns",
        f"{sum(drawn)} from {len(drawn)}",
        sum(drawn) >= _ROUNDS and len(drawn) >= _CAMPAIGNS,
    )


def _null(null: Sequence[NullRate]) -> Iterator[Target]:
    """Hold no draws across the twins to a target: there chance counts as a difference."""
    for rate in null:
        if rate.draws != ACROSS and not rate.campaign:
            name = f"null gates with a false REGRESSION or VARIANCE, {rate.draws}"
            yield _at_most(name, rate.alarm, _ALARMS)
            name = f"null gates with an UNDECIDED cell that is not small, {rate.draws}"
            yield _at_most(name, rate.undecided, _UNDECIDED)


def _at_most(name: str, rate: Rate, most: float) -> Target:
    """Hold the upper bound against a target: few gates prove nothing."""
    found = f"{rate.share:.2%} (at most {bounded(rate.high)})"
    return Target(name, f"at most {most:.0%}", found, rate.high <= most)


def _power(power: Sequence[Power]) -> Iterator[Target]:
    alone = {(p.planted, p.group): p.found for p in power if p.scenario is Scenario.ALONE}
    for planted, group, least in _POWER:
        name, required = f"power at {planted}, {group} cells", f"at least {least:.0%}"
        found = alone.get((planted, group))
        if found is None:
            others = alone.get((FLOORS, ALL_SMALL)) if group is Group.SMALL else None
            told = f"; all small cells at {FLOORS}: {others.share:.1%}" if others else ""
            yield Target(name, required, f"no such cell{told}", met=None)
        else:
            share = found.share
            yield Target(name, required, f"{share:.1%}", share >= least)


def _unbeaten(rules: Sequence[RuleRate]) -> Target:
    beaten = beaten_by(rules)
    return Target(
        "rules with both fewer false alarms and more power than ab",
        "none",
        ", ".join(beaten) or "none",
        not beaten,
    )


def beaten_by(rules: Sequence[RuleRate]) -> tuple[str, ...]:
    """Return the rules that have fewer false alarms than `ab`, and more power at some change."""
    ours = next(r for r in rules if r.rule == AB)
    return tuple(
        f"{r.rule}, {r.rounds} rounds"
        for r in rules
        if (r.cells.share < ours.cells.share or r.gates.share < ours.gates.share)
        and any(r.power[planted].share > found.share for planted, found in ours.power.items())
    )
