"""How noisy each case is, known before two stacks are compared."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from regress.config import NoiseRule
from regress.model.cell import Observation, value
from regress.model.finding import Metric
from regress.stats.noise import pooled_sd, upper_sd
from regress.store.calibration import load_calibration
from regress.store.setup import Setup
from workloads.record import Case, Round

__all__ = ["Index", "Noise", "calibrated_noise", "first_start", "of_others"]

Index = Mapping[Case, tuple[Observation, ...]]
"""Every observation of a case in some rounds, in order of their start."""

_NOISY: Final = (Metric.KERNEL_TIME, Metric.PLAN_TIME, Metric.SPREAD)


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise of every case under one set-up: only distances within a stack and campaign count.

    Attributes
    ----------
    sides
        Rounds of the two stacks that are compared. Of these the quieter one counts: what became
        noisy must not widen its own floor, and swapping the sides must change nothing.
    others
        Gives the rounds of further stacks; asked only for what no calibration knows.
    calibrated
        Upper bounds that a calibration stored; they come first.
    """

    sides: tuple[Index, Index]
    others: Callable[[], Sequence[Index]]
    rule: NoiseRule
    calibrated: Mapping[Case, Mapping[Metric, float]]

    def of(self, case: Case) -> Mapping[Metric, float]:
        """Return the upper bound of a case's noise by metric; unknown ones are missing."""
        known = self.calibrated.get(case, {})
        found = {metric: self._bound(case, metric) for metric in _NOISY if metric not in known}
        return {m: bound for m, bound in found.items() if bound is not None} | dict(known)

    def _bound(self, case: Case, metric: Metric) -> float | None:
        sides = [_groups(side, case, metric) for side in self.sides]
        if not any(sides):
            return None  # There is nothing to judge.
        known = [(pooled_sd(side)[0], side) for side in sides if pooled_sd(side)[1]]
        quieter = min(known, key=itemgetter(0))[1] if known else []
        others = (group for index in self.others() for group in _groups(index, case, metric))
        sd, degrees = pooled_sd([*quieter, *others])
        enough = degrees >= self.rule.min_degrees
        return upper_sd(sd, degrees, self.rule.confidence) if enough else None


def of_others(indexes: Mapping[str, Index], *tags: str) -> tuple[Index, ...]:
    """Return what the rounds of all stacks hold but of those with these tags."""
    return tuple(found for tag, found in indexes.items() if tag not in tags)


def first_start(*sides: Iterable[Round]) -> str:
    """Return when the first of some rounds began: no calibration made later judges them."""
    return min(r.started_at for side in sides for r in side)


def calibrated_noise(
    key: Setup, before: str | None = None, *, or_first: bool = False
) -> Mapping[Case, Mapping[Metric, float]]:
    """Return the bounds of the latest calibration under a set-up, made before a time if given.

    If none is that old, `or_first` takes the first that was made.

    Raises
    ------
    UsageError
        If a stored calibration is damaged.
    """
    found = load_calibration(key, before=before, or_first=or_first)
    return found.noise if found else {}


def _groups(index: Index, case: Case, metric: Metric) -> list[list[float]]:
    """Return one stack's numbers of a case, campaign by campaign."""
    groups: dict[str, list[float]] = defaultdict(list)
    for o in index.get(case, ()):
        number = value(o.record, metric)
        if number is not None:
            groups[o.campaign].append(number)
    return list(groups.values())
