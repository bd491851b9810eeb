"""How noisy each case is, known before two stacks are compared."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from regress.config import NoiseRule
from regress.model.cell import Observation, value
from regress.model.finding import Metric
from regress.stats.noise import pooled_sd, upper_sd
from workloads.record import Case

__all__ = ["Index", "Noise"]

Index = Mapping[Case, tuple[Observation, ...]]
"""Every observation of a case in some rounds, in order of their start."""

_NOISY: Final = (Metric.KERNEL_TIME, Metric.PLAN_TIME, Metric.SPREAD)


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise of every case, over all stacks at hand under one set-up.

    Attributes
    ----------
    by_stack
        Rounds of each stack: only distances within a stack and campaign count.
    calibrated
        Upper bounds that a calibration stored; they come first.
    """

    by_stack: tuple[Index, ...]
    rule: NoiseRule
    calibrated: Mapping[Case, Mapping[Metric, float]]

    def of(self, case: Case) -> Mapping[Metric, float]:
        """Return the upper bound of a case's noise by metric; unknown ones are missing."""
        return {**self._from_rounds(case), **self.calibrated.get(case, {})}

    def _from_rounds(self, case: Case) -> dict[Metric, float]:
        groups: dict[tuple[int, str], list[Observation]] = defaultdict(list)
        for number, stack in enumerate(self.by_stack):
            for o in stack.get(case, ()):
                groups[number, o.campaign].append(o)
        found = {}
        for metric in _NOISY:
            samples = ((value(o.record, metric) for o in group) for group in groups.values())
            measured = ([v for v in s if v is not None] for s in samples)
            sd, degrees = pooled_sd(measured)
            if degrees >= self.rule.min_degrees:
                found[metric] = upper_sd(sd, degrees, self.rule.confidence)
        return found
