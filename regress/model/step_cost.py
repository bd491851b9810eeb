"""The result of `step-cost`, as it is written in JSON and shown as text."""

from enum import StrEnum
from typing import Final

import msgspec

from regress.errors import ExitCode
from regress.model.finding import Ratio
from regress.model.reason import ReasonCode
from regress.model.thresholds import StackPair
from regress.model.verdict import Verdict
from workloads.backend import Layout
from workloads.record import Case

__all__ = [
    "STEP_COST_SCHEMA",
    "BackendCost",
    "CellChange",
    "Choice",
    "LoadBest",
    "Part",
    "ProfileTold",
    "Source",
    "StackCost",
    "StepCostReport",
    "Upgrade",
]

STEP_COST_SCHEMA: Final = 2


class _Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Source(StrEnum):
    """Where a cost is from; the best source first."""

    MEASURED = "measured"
    """Rounds hold exactly this batch."""
    INTERPOLATED = "interpolated"
    """Between two recorded batches that the planner treats in the same way."""
    MODEL = "model"
    """Kernel time predicted by the simulator: not measured."""
    REFUSED = "cannot run"
    """It was tried and does not run."""
    NOTHING = "not measured"
    """Nothing is known."""

    @property
    def by_rounds(self) -> bool:
        """Whether the cost rests on measured rounds."""
        return self in {Source.MEASURED, Source.INTERPOLATED}


class Part(_Told, frozen=True):
    """One backend on one batch of the profile.

    Attributes
    ----------
    load
        Name of the batch.
    kernel_us
        Kernel time of one layer, merging included; None if nothing tells it.
    plan_us
        Host time of plan(), once a step; 0 for backends without it.
    step_us
        Layers times `kernel_us`, plus `plan_us`.
    rounds
        Rounds that it rests on.
    cases
        Cases that it rests on: the batch itself, or those between which it lies.
    campaigns
        Campaigns of those rounds.
    reason
        Why it cannot run; empty if it can.
    measure
        How to measure it; empty if it was.
    """

    load: str
    source: Source
    kernel_us: float | None = None
    plan_us: float | None = None
    step_us: float | None = None
    rounds: int = 0
    cases: tuple[Case, ...] = ()
    campaigns: tuple[str, ...] = ()
    reason: str = ""
    measure: str = ""


class BackendCost(_Told, frozen=True):
    """What a step costs with one backend.

    Attributes
    ----------
    chooses
        Whether it is the library's `auto`.
    resolved
        The kernels that it became, where rounds tell.
    wanted
        Whether the profile asks for it; others are shown because all of it was measured.
    source
        The worst one of its parts.
    covered
        Weight share of the parts that rest on rounds.
    kernel_us, plan_us, step_us
        All layers' kernels, plan(), and their sum, weighted; None if a part has none.
    parts
        Batch by batch, in the profile's order.
    """

    backend: str
    layout: Layout
    chooses: bool
    resolved: tuple[str, ...]
    wanted: bool
    source: Source
    covered: float
    kernel_us: float | None
    plan_us: float | None
    step_us: float | None
    parts: tuple[Part, ...]


class Choice(_Told, frozen=True):
    """What a choice of backend costs over the best one.

    Attributes
    ----------
    chooser
        `auto`, a policy, or a backend for itself.
    picked
        The backend; None where the rule does not speak or has none in this mode.
    step_us, best_us, extra_us
        Of the picked backend, of the best rival, and their difference, in a step.
    ratio
        Picked over best; the interval is of step costs round by round, if rounds hold them all.
    source
        The worse one of the two.
    note
        Why there is no cost; empty if there is.
    """

    chooser: str
    policy: bool
    picked: str | None
    like_for_like: bool
    step_us: float | None = None
    best: str | None = None
    best_us: float | None = None
    extra_us: float | None = None
    ratio: Ratio | None = None
    source: Source = Source.NOTHING
    note: str = ""


class LoadBest(_Told, frozen=True):
    """One batch of the profile and its best backend on paged KV.

    Attributes
    ----------
    share
        Share of the steps.
    longest_tokens
        KV tokens of the longest request.
    best, best_us
        None if nothing was measured.
    """

    load: str
    share: float
    requests: int
    kv_tokens: int
    longest_tokens: int
    best: str | None
    best_us: float | None


class StackCost(_Told, frozen=True):
    """What a step costs under one stack.

    Attributes
    ----------
    best
        The cheapest backend on paged KV that does not choose itself, by rounds if there are any.
    best_any
        The cheapest one on any layout, if it is another.
    best_each_us
        Cost with the best paged backend of each batch; None if some batch has none.
    rounds
        Rounds of the campaign that was preferred.
    """

    stack: str
    campaign: str
    rounds: int
    best: str | None
    best_any: str | None
    best_each_us: float | None
    loads: tuple[LoadBest, ...]
    backends: tuple[BackendCost, ...]
    choices: tuple[Choice, ...]


class CellChange(_Told, frozen=True):
    """What `check` says of one cell behind a step cost."""

    case: Case
    load: str
    verdict: Verdict
    code: ReasonCode | None
    message: str


class Upgrade(_Told, frozen=True):
    """What changed for one backend.

    Attributes
    ----------
    verdict
        Join of its cells' verdicts, NO_DATA for parts without a cell.
    base_us, head_us
        Step costs.
    ratio
        Head over base; None if a side does not rest on rounds.
    across
        Whether no campaign holds both sides.
    """

    backend: str
    verdict: Verdict
    base_us: float | None
    head_us: float | None
    ratio: Ratio | None
    across: bool
    cells: tuple[CellChange, ...]


class ProfileTold(_Told, frozen=True):
    """The profile as it was read; heads are those of one GPU.

    Attributes
    ----------
    steps, loads
        Steps of the trace (0 without one), and how many batches were priced.
    """

    name: str
    mode: str
    tp: int
    layers: int
    q_heads: int
    kv_heads: int
    head_dim: int
    dtype: str
    kv_dtype: str
    page_size: int
    steps: int
    loads: int


class StepCostReport(_Told, frozen=True):
    """Attention time of a decode step.

    Attributes
    ----------
    schema
        Counts incompatible changes of this layout.
    command
        Reproduces the report.
    costs
        Of each stack, base first.
    upgrades
        Backend by backend, worst first; empty for one stack.
    verdict
        Join of the upgrades; None for one stack.
    warnings
        What was left aside or is doubtful, one line each.
    """

    schema: int
    command: str
    stacks: StackPair
    machine: str
    setup: dict[str, str | int | float]
    profile: ProfileTold
    verdict: Verdict | None
    exit_code: ExitCode
    costs: tuple[StackCost, ...]
    upgrades: tuple[Upgrade, ...]
    warnings: tuple[str, ...]
