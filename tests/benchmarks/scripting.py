"""Rounds that a script decides, and a listener to what they say."""

from typing import Any

from benchmarks.plan import RoundPlan
from benchmarks.progress import Progress, Reporter
from workloads.record import Case


class Listener(Reporter):
    """Keeps what is said."""

    def __init__(self) -> None:
        super().__init__(None)
        self.steps: list[Progress] = []

    def say(self, progress: Progress) -> None:
        self.steps.append(progress)


def plan_of(*chosen: Case, **fields: Any) -> RoundPlan:
    given = {"expected": {}, "tier": "custom", "campaign": "c1", "directory": "rounds", **fields}
    return RoundPlan("v1", "0" * 64, cases=chosen, **given)


def scripted(*workloads: str) -> list[Case]:
    return [Case(w, "scripted") for w in workloads]
