"""What the detectors of backend choice are given: one workload with all its backends' times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workloads.workload import Workload

__all__ = ["Race"]


@dataclass(frozen=True, slots=True)
class Race:
    """One workload under one stack, in one campaign.

    Attributes
    ----------
    times_us
        Kernel times by backend, one a round; only backends that were measured.
    resolved
        What a backend that chooses became, where it tells.
    round_ids
        Rounds the times are from.
    """

    workload: Workload
    times_us: Mapping[str, Sequence[float]]
    resolved: Mapping[str, str]
    round_ids: tuple[str, ...]
