"""The result of `backends`, as it is written in JSON and shown as text."""

from enum import StrEnum
from typing import Final

import msgspec

from regress.errors import ExitCode
from regress.model.finding import Ratio
from workloads.backend import Layout, Mode
from workloads.record import Status

__all__ = [
    "BACKENDS_SCHEMA",
    "AdviceCost",
    "BackendTime",
    "BackendsReport",
    "Choice",
    "FamilyRegret",
    "QueryFamily",
    "RankSwap",
    "Regret",
]

BACKENDS_SCHEMA: Final = 1


class QueryFamily(StrEnum):
    """Workloads that ask the same of a backend."""

    DECODE = "decode"
    SHORT = "short-query prefill"
    LONG = "long-query prefill"


class Choice(StrEnum):
    """What is said of a chooser in a family."""

    INVERTED = "INVERTED"
    """A backend that was not chosen is shown faster, in too many workloads."""
    NOT_INVERTED = "NOT_INVERTED"
    UNDECIDED = "UNDECIDED"
    """No workload has enough rounds to tell."""


class Regret(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a choice costs on one workload.

    Attributes
    ----------
    chooser
        A backend that chooses (`auto`) or a policy.
    picked, resolved
        The backend it picked, and the kernel this became (null if not told).
    best, best_us
        The fastest rival in the same mode, and its median time in microseconds.
    ratio
        Time of the picked over the best backend.
    like_for_like
        Whether only rivals on the same KV layout count.
    inverted
        Whether the interval is above the tolerated regret; null if too few rounds tell.
    """

    chooser: str
    family: QueryFamily
    mode: Mode
    workload: str
    picked: str
    resolved: str | None
    picked_us: float
    best: str
    best_us: float
    ratio: Ratio
    like_for_like: bool
    inverted: bool | None
    rounds: tuple[str, ...]


class AdviceCost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What always taking one backend costs over the best backend of each workload.

    Attributes
    ----------
    worst, worst_workload
        The largest ratio of median times, and where.
    behind, workloads
        On how many workloads the ratio is above the tolerated regret, and on how many both ran.
    """

    worst: float
    worst_workload: str
    behind: int
    workloads: int


class FamilyRegret(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a choice costs over a family of workloads.

    Attributes
    ----------
    policy
        Whether the chooser is an engine's policy; otherwise it is the library's `auto`.
    workloads, decided, inverted
        How many have a regret, have enough rounds to tell, and are inverted.
    median, worst, worst_workload
        Regret over the workloads.
    best, best_in
        The backend that is best most often, and in how many workloads; of several the one that
        costs least at its worst.
    tied
        The others that are best just as often.
    cost
        What always taking `best` costs.
    advice
        What to do; empty if the choice is right.
    """

    chooser: str
    policy: bool
    family: QueryFamily
    mode: Mode
    like_for_like: bool
    choice: Choice
    workloads: int
    decided: int
    inverted: int
    median: float
    worst: float
    worst_workload: str
    best: str
    best_in: int
    tied: tuple[str, ...]
    cost: AdviceCost
    advice: str


class RankSwap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two backends of one mode and layout that are each the fastest at one end of a step.

    Attributes
    ----------
    axis
        What grows from the first to the second workload.
    first_value, second_value
        Its values.
    first_best, second_best
        The fastest backend at each end.
    first_ratio, second_ratio
        By how much it beats the other end's fastest there.
    """

    axis: str
    mode: Mode
    layout: Layout
    first_workload: str
    first_value: int
    first_best: str
    first_ratio: Ratio
    second_workload: str
    second_value: int
    second_best: str
    second_ratio: Ratio


class BackendTime(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One backend on one workload: its median time, or why it has none.

    Attributes
    ----------
    reason
        Why it was not measured; empty if it was.
    rounds
        Measured rounds.
    """

    workload: str
    backend: str
    layout: Layout
    mode: Mode
    status: Status
    reason: str
    rounds: int
    time_us: float | None


class BackendsReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which backend to use under one stack.

    Attributes
    ----------
    schema
        Counts incompatible changes of this layout.
    command
        Reproduces the report.
    fail_over
        Regret that makes the exit code 1, or null.
    families
        The answer: choosers by family and mode, the library's own first.
    times
        Every backend on every workload, measured or not.
    aliases
        (case, the case that runs the very same kernel): not measured on purpose.
    """

    schema: int
    command: str
    stack: str
    machine: str
    setup: dict[str, str | int | float]
    tier: str
    pattern: str | None
    fail_over: float | None
    exit_code: ExitCode
    families: tuple[FamilyRegret, ...]
    regrets: tuple[Regret, ...]
    swaps: tuple[RankSwap, ...]
    times: tuple[BackendTime, ...]
    aliases: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
