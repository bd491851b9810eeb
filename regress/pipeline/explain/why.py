"""One sentence on what decides the time of a batch on a backend."""

from typing import Final

from regress.counted import counted
from regress.pipeline.explain.limits import Limit
from workloads.planner.plan import Plan, Schedule
from workloads.simulator import Simulation

__all__ = ["UNEVEN", "why_plan", "why_profiler", "why_time"]

UNEVEN: Final = 1.25
"""Imbalance from which on one request is said to hold up the others."""
_NEVER: Final = {
    "fa3": "FlashInfer's fa3 never splits KV",
    "flash-attn-3": "FlashAttention-3 was told, or its heuristic decided, to split nothing",
    "flash-attn-2": "FlashAttention-2's heuristic decided to split nothing",
}


def why_plan(plan: Plan, limit: Limit | None) -> str:
    """Return what the planner did and which rule made it do so."""
    requests, longest = len(plan.batch.kv_lens), max(plan.batch.kv_lens)
    if plan.splits_kv:
        splits = plan.splits[plan.batch.kv_lens.index(longest)]
        rule = f" under {limit.rule}" if limit and plan.schedule is Schedule.GRID else ""
        return (
            f"{counted(requests, 'request')} become {plan.work_items} work items{rule}: "
            f"the longest request ({longest:,} tokens) is cut into {counted(splits, 'chunk')}"
        )
    if limit and requests >= limit.requests:
        verb = "are" if plan.path == "flash-attn-3" else "reach"
        return f"{counted(requests, 'request')} {verb} {limit.rule}: nothing is split"
    if plan.path in _NEVER:
        return _NEVER[plan.path]
    return "No request is longer than one chunk: nothing is split"


def why_time(run: Simulation) -> str:
    """Return how that plays out on the SMs."""
    share, idle = run.longest_us / run.makespan_us, run.idle_share
    tokens = int(run.tokens[run.longest])
    if run.imbalance < UNEVEN:
        return f"SMs are about equally busy ({idle:.0%} of their time is idle)"
    if len(run.tokens) < run.device.sms:
        return f"there are only {len(run.tokens)} CTAs for {run.device.sms} SMs"
    whole = tokens == max(run.plan.batch.kv_lens)
    what = "request" if whole else "chunk"
    return (
        f"the {what} of {tokens:,} tokens keeps one CTA a head busy for {share:.0%} of the time "
        f"while {idle:.0%} of the SM time is idle"
    )


def why_profiler(plan: Plan) -> str:
    """Return why a profiler names a prefill kernel in decode; empty where it does not."""
    if plan.batch.q_len > 1 or "Prefill" not in plan.kernel:
        return ""
    return (
        f"A profiler names {plan.kernel.removeprefix('flashinfer::')}: with use_tensor_cores=True "
        "decode runs FlashInfer's prefill kernel at q_len 1"
    )
