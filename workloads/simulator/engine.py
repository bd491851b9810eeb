"""Work items in time: which SM runs each one, from when to when.

A CTA has a speed that it reaches alone. CTAs on one SM share evenly what the SM can do, and all
of them share evenly what the card's memory can do. So no CTA is faster than alone, and time
without the memory's limit can be computed first and be stretched then.
"""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace

import numpy as np
import numpy.typing as npt

__all__ = ["Machine", "Run", "assign", "run_assigned", "run_grid", "run_queue"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Machine:
    """What CTAs run on.

    Attributes
    ----------
    sms
        Streaming multiprocessors.
    occupancy
        CTAs that one of them holds at once.
    sm_share
        CTAs whose full speed an SM can serve.
    memory_share
        CTAs whose full speed the card's memory can serve.

    Raises
    ------
    ValueError
        If a number is below 1.
    """

    sms: int
    occupancy: int
    sm_share: float
    memory_share: float

    def __post_init__(self) -> None:
        for name in ("sms", "occupancy", "sm_share", "memory_share"):
            if not getattr(self, name) >= 1:
                msg = f"{name} must be at least 1, not {getattr(self, name):g}"
                raise ValueError(msg)

    @property
    def throughput(self) -> float:
        """CTAs at full speed that the whole card can serve."""
        return min(self.sms * min(self.sm_share, self.occupancy), self.memory_share)

    def pace(self) -> Floats:
        """Speed of a CTA with 0, 1, 2, … on its SM, relative to one alone."""
        crowd = np.maximum(np.arange(self.occupancy + 1), 1)
        return np.minimum(1.0, self.sm_share / crowd)


@dataclass(frozen=True, slots=True)
class Run:
    """Where each CTA ran and when; arrays of shape (ctas,), times in microseconds."""

    sm: Ints
    start_us: Floats
    end_us: Floats


def run_grid(alone_us: Floats, machine: Machine) -> Run:
    """Start CTAs in the order of a grid, the next one wherever an SM has room.

    The first ones are dealt out over the SMs in turn until all are full.

    Parameters
    ----------
    alone_us
        Time of each CTA at full speed, in microseconds.
    """
    fits = len(alone_us) <= machine.sms * machine.occupancy
    return _share_memory(
        _one_wave(alone_us, machine) if fits else _waves(alone_us, machine), machine
    )


def run_queue(alone_us: Floats, machine: Machine) -> Run:
    """Let one CTA on each SM take the next item when it is done with one."""
    sm, start = np.zeros(len(alone_us), np.int64), np.zeros(len(alone_us))
    free = [(0.0, one) for one in range(machine.sms)]
    for item, work in enumerate(alone_us.tolist()):
        now, one = free[0]
        sm[item], start[item] = one, now
        heapreplace(free, (now + work, one))
    return _share_memory(Run(sm, start, start + alone_us), machine)


def run_assigned(alone_us: Floats, sm: Ints, machine: Machine) -> Run:
    """Let each SM run its items one after another, as assigned beforehand."""
    order = np.argsort(sm, kind="stable")
    ends = np.cumsum(alone_us[order])
    first = np.flatnonzero(np.diff(sm[order], prepend=-1))
    # What SMs before this one ran is taken off; an item starts exactly when the one before ends.
    ends -= np.repeat(ends[first] - alone_us[order][first], np.diff(first, append=len(sm)))
    starts = np.roll(ends, 1)
    starts[first] = 0.0
    start, end = np.empty_like(ends), np.empty_like(ends)
    start[order], end[order] = starts, ends
    return _share_memory(Run(sm, start, end), machine)


def assign(costs: Floats, sms: int) -> Ints:
    """Give each item, in order, to the SM with the least cost so far; return the SMs."""
    least = [(0.0, one) for one in range(sms)]
    sm = np.zeros(len(costs), np.int64)
    for item, cost in enumerate(costs.tolist()):
        spent, sm[item] = least[0]
        heapreplace(least, (spent + cost, int(sm[item])))
    return sm


def _one_wave(alone_us: Floats, machine: Machine) -> Run:
    """All CTAs are resident from the start, so each SM's can be timed shortest first."""
    count, sms, pace = len(alone_us), machine.sms, machine.pace()
    work = np.zeros((machine.occupancy, sms))
    work.flat[:count] = alone_us
    order = np.argsort(work, axis=0, kind="stable")
    steps = np.diff(np.take_along_axis(work, order, axis=0), axis=0, prepend=0.0)
    # Empty places have no work and sort first, so the crowd shrinks by one from row to row.
    ends = np.cumsum(steps / pace[:0:-1, None], axis=0)
    end = np.empty_like(work)
    np.put_along_axis(end, order, ends, axis=0)
    return Run(np.arange(count) % sms, np.zeros(count), end.flat[:count])


def _waves(alone_us: Floats, machine: Machine) -> Run:
    """Start the rest as CTAs end: simulate from one end to the next."""
    count, sms, speed = len(alone_us), machine.sms, machine.pace().tolist()
    work = alone_us.tolist()
    sm, start, end = [cta % sms for cta in range(count)], [0.0] * count, [0.0] * count
    following = sms * machine.occupancy
    # What an SM has done for each of its CTAs so far, and when that was; what each needs in all.
    done, at = [0.0] * sms, [0.0] * sms
    resident = [[(work[cta], cta) for cta in range(one, following, sms)] for one in range(sms)]
    for crowd in resident:
        heapify(crowd)
    # Among CTAs that end together, those of an SM that has not been served come first.
    events = [(crowd[0][0] / speed[len(crowd)], one, one) for one, crowd in enumerate(resident)]
    heapify(events)
    served = sms
    while events:
        now, _, one = heappop(events)
        crowd = resident[one]
        done[one] += (now - at[one]) * speed[len(crowd)]
        at[one] = now
        end[heappop(crowd)[1]] = now
        if following < count:
            sm[following], start[following] = one, now
            heappush(crowd, (done[one] + work[following], following))
            following += 1
        if crowd:
            wait = max(crowd[0][0] - done[one], 0.0) / speed[len(crowd)]
            heappush(events, (now + wait, served, one))
            served += 1
    return Run(np.array(sm), np.array(start), np.array(end))


def _share_memory(run: Run, machine: Machine) -> Run:
    """Stretch time wherever all CTAs together are faster than memory."""
    at, demand = _demand(run, machine)
    stretch = np.maximum(demand / machine.memory_share, 1.0)
    stretched = np.concatenate(([0.0], np.cumsum(np.diff(at) * stretch[:-1])))
    start, end = (np.interp(times, at, stretched) for times in (run.start_us, run.end_us))
    return Run(run.sm, start, end)


def _demand(run: Run, machine: Machine) -> tuple[Floats, Floats]:
    """Return moments in order and the CTAs' joint speed from each on, in CTAs at full speed."""
    count, pace = len(run.sm), machine.pace()
    at = np.concatenate((run.end_us, run.start_us))
    sm = np.concatenate((run.sm, run.sm))
    change = np.repeat((-1, 1), count)
    # Ends come before starts at one moment, so that no SM seems to hold more than it can.
    by_sm = np.lexsort((change, at, sm))
    crowd = np.cumsum(change[by_sm])
    speed = crowd * pace[crowd]
    rise = np.diff(speed, prepend=0.0)
    rise = np.where(np.diff(sm[by_sm], prepend=-1) != 0, speed, rise)
    in_time = np.argsort(at[by_sm], kind="stable")
    return at[by_sm][in_time], np.cumsum(rise[in_time])
