"""From how many requests on a planner splits nothing, and the rule in words."""

from dataclasses import dataclass

from workloads.devices import Device
from workloads.planner.flash_attn_3 import DYNAMIC_SPLIT_LIMIT
from workloads.planner.flashinfer_fa2 import fa2_budget
from workloads.planner.plan import Plan

__all__ = ["Limit", "split_limit"]


@dataclass(frozen=True, slots=True)
class Limit:
    """The end of splitting.

    Attributes
    ----------
    requests
        From so many on nothing is split.
    rule
        Where the number comes from.
    """

    requests: int
    rule: str


def split_limit(plan: Plan, device: Device) -> Limit | None:
    """Return the limit of the path that a plan takes, None where there is no such number."""
    shape = plan.batch.shape
    if plan.path == "fa2" and plan.q_tiles == 1:
        budget = fa2_budget(shape.kv_heads, device)
        rule = f"2 x {device.sms} SMs / {_heads(shape.kv_heads)}"
        return Limit(budget, f"the budget of {budget} work items per KV head ({rule})")
    if plan.occupancy is not None:
        cap = -(-plan.occupancy * device.sms // shape.kv_heads)
        rule = f"{plan.occupancy} CTAs x {device.sms} SMs / {_heads(shape.kv_heads)}"
        return Limit(cap, f"the cap of {cap} work items per KV head ({rule})")
    if plan.path == "flash-attn-3":
        limit = DYNAMIC_SPLIT_LIMIT
        return Limit(limit + 1, f"more than the {limit} requests that its scheduler can split")
    return None


def _heads(number: int) -> str:
    return f"{number} head{'s' if number > 1 else ''}"
