"""Recorded decode cells with the plan that the planner models make of them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from workloads.backend import backend
from workloads.devices import Device
from workloads.planner import Plan, plan
from workloads.record import Case, Round
from workloads.workload import Phase, parse

__all__ = ["MACHINE", "TimedPlan", "release_of", "timed_plans"]

MACHINE: Final = "h200"
"""Name of the recorded machine, and of its device."""


@dataclass(frozen=True, slots=True)
class TimedPlan:
    """A decode cell of one stack.

    Attributes
    ----------
    time_us
        Median over rounds, in microseconds.
    """

    stack: str
    case: Case
    plan: Plan
    time_us: float


def timed_plans(rounds: Mapping[str, Sequence[Round]], device: Device) -> Iterator[TimedPlan]:
    """Yield every measured decode cell whose planner is known.

    Parameters
    ----------
    rounds
        By stack tag.
    """
    for stack, found in rounds.items():
        times: dict[Case, list[float]] = defaultdict(list)
        for one in found:
            for record in one.cases:
                if record.time_us is not None:
                    times[record.case].append(record.time_us)
        for case, times_us in times.items():
            workload = parse(case.workload)
            if workload.phase is not Phase.DECODE:
                continue
            version = release_of(case.backend, found[-1])
            try:
                planned = plan(case.backend, workload, device, version=version)
            except ValueError:
                # No planner of its own, as torch's SDPA, which says so.
                continue
            yield TimedPlan(stack, case, planned, median(times_us))


def release_of(name: str, found: Round) -> str | None:
    """Return the version of a backend's library in a round; None if the stack does not pin it."""
    return found.stack.imported.get(backend(name).library)
