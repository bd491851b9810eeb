"""How long a plan takes on a device, by a model of the card: no measurement."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from workloads.devices import Device
from workloads.planner.plan import Ints, Plan, Schedule
from workloads.shape import DType
from workloads.simulator.engine import (
    Floats,
    Machine,
    Run,
    assign,
    run_assigned,
    run_grid,
    run_queue,
)
from workloads.simulator.rates import Rates

__all__ = ["Simulation", "simulate"]

_CUDA: Final = "cuda"
_TENSOR_CORE_OCCUPANCY: Final = 2
"""CTAs that FlashInfer's fa2 planner counts on each SM."""
_RATED_HEAD_DIM: Final = 128


@dataclass(frozen=True)
class Simulation:
    """One launch in time, as a model sees it. Times in microseconds.

    Attributes
    ----------
    plan, device
        What was simulated.
    request
        Request that each CTA (or turn of a persistent one) works for, shape (ctas,).
    head
        Its head: a KV head where the plan packs, else a query head.
    tokens
        KV tokens that it reads.
    alone_us
        Its time at full speed.
    run
        Where it ran and when, from the first CTA's start.
    slots
        CTAs that fit on the device at once.
    balanced_us
        Time of the same work if it could be cut and spread at will.
    before_us, after_us
        Launch overhead with the kernel that prepares, and the kernel that merges.
    """

    plan: Plan
    device: Device
    request: Ints
    head: Ints
    tokens: Ints
    alone_us: Floats
    run: Run
    slots: int
    balanced_us: float
    before_us: float
    after_us: float

    @cached_property
    def makespan_us(self) -> float:
        """From the start of the first CTA to the end of the last one."""
        return float(self.run.end_us.max())

    @property
    def time_us(self) -> float:
        """All of it, overhead and merging included."""
        return self.before_us + self.makespan_us + self.after_us

    @cached_property
    def busy_us(self) -> Floats:
        """Time in which an SM holds some CTA, shape (sms,)."""
        order = np.lexsort((self.run.start_us, self.run.sm))
        sm, start, end = self.run.sm[order], self.run.start_us[order], self.run.end_us[order]
        # Times of one SM must not touch those of the next one.
        shift = sm * (self.makespan_us + 1)
        latest = np.maximum.accumulate(end + shift)
        covered = np.concatenate(([-1.0], latest[:-1]))
        busy = latest - np.maximum(start + shift, np.minimum(covered, latest))
        held = np.bincount(sm, weights=np.maximum(busy, 0.0), minlength=self.device.sms)
        return held.astype(np.float64)

    @property
    def idle_share(self) -> float:
        """Share of the SMs' time, until the last CTA ends, in which they hold no CTA."""
        return 1 - float(self.busy_us.sum()) / (self.device.sms * self.makespan_us)

    @cached_property
    def longest(self) -> int:
        """Index of the CTA that runs longest."""
        return int((self.run.end_us - self.run.start_us).argmax())

    @property
    def longest_us(self) -> float:
        """How long it runs."""
        return float(self.run.end_us[self.longest] - self.run.start_us[self.longest])

    @property
    def imbalance(self) -> float:
        """Makespan over the time that the same work would take if it were spread evenly."""
        return self.makespan_us / self.balanced_us


def simulate(plan: Plan, device: Device, rates: Rates) -> Simulation:
    """Run a plan through the model.

    Parameters
    ----------
    rates
        Of the plan's path.
    """
    request, head, tokens = _ctas(plan)
    machine = _machine(plan, device, rates)
    alone_us = rates.item_us + tokens / _cta_speed(plan, rates)
    return Simulation(
        plan=plan,
        device=device,
        request=request,
        head=head,
        tokens=tokens,
        alone_us=alone_us,
        run=_run(plan, alone_us, tokens, machine),
        slots=machine.sms * machine.occupancy,
        balanced_us=float(alone_us.sum()) / machine.throughput,
        before_us=rates.launch_us + (rates.prepare_us if plan.prepare else 0.0),
        after_us=rates.merge_us if plan.merge else 0.0,
    )


def _ctas(plan: Plan) -> tuple[Ints, Ints, Ints]:
    """Return request, head and KV tokens of each CTA, in the order in which they start."""
    items, heads = plan.items(), plan.heads
    count = len(items.request)
    head, item = np.divmod(np.arange(count * heads), count)
    if not plan.heads_outermost:
        place = np.cumsum(np.diff(items.request, prepend=items.request[0]) != 0)
        order = np.lexsort((item, head, place[item]))
        head, item = head[order], item[order]
    return items.request[item], head, items.kv_tokens[item]


def _cta_speed(plan: Plan, rates: Rates) -> float:
    """KV tokens that one CTA alone reads in a microsecond."""
    shape = plan.batch.shape
    speed = rates.cta_tokens_us * _RATED_HEAD_DIM / shape.head_dim
    if plan.path == _CUDA:
        speed /= shape.group
    return speed * (rates.fp8 if shape.kv_dtype is DType.FP8 else 1.0)


def _machine(plan: Plan, device: Device, rates: Rates) -> Machine:
    shape = plan.batch.shape
    bytes_us = _cta_speed(plan, rates) * 2 * shape.head_dim * shape.kv_dtype.size_bytes
    # Query heads that are not packed read the same KV at about the same time: once from memory.
    readers = 1 if plan.packed else shape.group
    return Machine(
        sms=device.sms,
        occupancy=_occupancy(plan),
        sm_share=max(rates.sm_tokens_us / rates.cta_tokens_us, 1.0),
        memory_share=max(rates.memory * device.bandwidth / 1e6 * readers / bytes_us, 1.0),
    )


def _occupancy(plan: Plan) -> int:
    if plan.schedule is not Schedule.GRID:
        return 1
    return plan.occupancy or _TENSOR_CORE_OCCUPANCY


def _run(plan: Plan, alone_us: Floats, tokens: Ints, machine: Machine) -> Run:
    if plan.schedule is Schedule.GRID:
        return run_grid(alone_us, machine)
    if plan.schedule is Schedule.QUEUE:
        return run_queue(alone_us, machine)
    costs = (tokens + 2 * plan.q_tile).astype(np.float64)
    return run_assigned(alone_us, assign(costs, machine.sms), machine)
