"""What reports quote of a calibration."""

from collections.abc import Collection
from statistics import median
from typing import Final

from regress.config import Config
from regress.model.calibration import Calibration
from regress.model.finding import Metric
from regress.model.rates import ErrorRate, Group, Rate, RuleRate, Scenario
from regress.pipeline.calibrate.calibrate import digest_of
from regress.pipeline.calibrate.null import POOLED
from regress.pipeline.calibrate.rules import AB, CHECK
from workloads.record import Case

__all__ = ["error_rate_of"]

_RULES: Final = {"ab": AB, "check": CHECK}
_PLANTED: Final = ("+1%", "+2%", "+5%")


def error_rate_of(
    told: Calibration, command: str, config: Config, cases: Collection[Case]
) -> ErrorRate | None:
    """Return what the report of a command says of its own error rate.

    Parameters
    ----------
    command
        `ab` or `check`; of another one nothing is known, nor of a calibration without its rule.
    cases
        Of the report.
    """
    rules = [r for r in told.rules if r.rule == _RULES.get(command)]
    if not rules:
        return None
    rule, ab = rules[0], command == "ab"
    drawn = [c.drawn_from for c in told.campaigns if c.drawn_from]
    found = [c.detectable_80 for c in told.cells if c.detectable_80 is not None]
    known = {c.case for c in told.cells if Metric.KERNEL_TIME in c.noise}
    return ErrorRate(
        command=command,
        rounds=sum(drawn),
        campaigns=len(drawn),
        rounds_a_side=rule.rounds,
        tier=told.tier,
        alarms=_alarms(told, rule, ab=ab),
        power=_power(told) if ab else {name: rule.power[name] for name in _PLANTED},
        detectable=median(found) if found and ab else None,
        uncalibrated=len(set(cases) - known),
        same_thresholds=told.thresholds == digest_of(config),
    )


def _alarms(told: Calibration, rule: RuleRate, *, ab: bool) -> Rate:
    whole = (n.alarm for n in told.null if n.draws == POOLED and not n.campaign)
    return next(whole) if ab else rule.gates


def _power(told: Calibration) -> dict[str, Rate]:
    """Return the power at a slower quiet cell."""
    return {
        p.planted: p.found
        for p in told.power
        if p.scenario is Scenario.ALONE and p.group == Group.QUIET and p.planted in _PLANTED
    }
