"""What a user types to get a backend, and what that backend costs where another is best."""

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Final

from regress.config import BackendsRule
from regress.model.backends import AdviceCost, Regret
from regress.model.race import Race

__all__ = ["advice", "cost_of"]

_WRAPPER: Final = "build {}Wrapper with {}"
_DECODE: Final = "BatchDecodeWithPagedKVCache"
_PREFILL: Final = "BatchPrefillWithPagedKVCache"

_ADVICE: Final = {
    "flashinfer-decode-cuda": _WRAPPER.format(_DECODE, "use_tensor_cores=False"),
    "flashinfer-decode-tc-fa2": _WRAPPER.format(_DECODE, 'use_tensor_cores=True, backend="fa2"'),
    "flashinfer-decode-tc-fa3": _WRAPPER.format(_DECODE, 'use_tensor_cores=True, backend="fa3"'),
    "flashinfer-prefill-fa2": _WRAPPER.format(_PREFILL, 'backend="fa2"'),
    "flashinfer-prefill-fa3": _WRAPPER.format(_PREFILL, 'backend="fa3"'),
}


def advice(backend: str) -> str:
    """Return how to get a backend by name, the same in serving mode."""
    return _ADVICE.get(backend.removesuffix("-serving"), f"use {backend}")


def cost_of(
    backend: str, regrets: Iterable[Regret], races: Mapping[str, Race], rule: BackendsRule
) -> AdviceCost:
    """Return what always taking one backend costs over the best of each workload.

    Parameters
    ----------
    backend
        It is measured on at least one of the workloads.
    races
        By slug; workloads without a time of the backend are left out of the count.
    """
    costs = {
        r.workload: median(races[r.workload].times_us[backend]) / r.best_us
        for r in regrets
        if backend in races[r.workload].times_us
    }
    worst = max(costs, key=lambda slug: costs[slug])
    return AdviceCost(
        worst=costs[worst],
        worst_workload=worst,
        behind=sum(cost > rule.inverted_regret for cost in costs.values()),
        workloads=len(costs),
    )
