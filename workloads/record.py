"""The record of one round: the immutable file that `benchmarks` writes and `regress` reads.

A round file is gzipped JSON of one `Round`. It is the only truth: the ledger, asv's results and
every report are derived from such files. `SCHEMA` counts incompatible changes of this module.
"""

from enum import StrEnum
from statistics import median
from typing import Final

import msgspec

__all__ = [
    "SCHEMA",
    "Case",
    "CaseRecord",
    "Conditions",
    "Design",
    "Facts",
    "Kernel",
    "Machine",
    "Protocol",
    "Round",
    "StackRef",
    "Status",
]

SCHEMA: Final = 1


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Case(_Record, frozen=True, order=True):
    """A workload run by a backend; with a metric it names a cell.

    Attributes
    ----------
    workload
        Slug of the workload.
    backend
        Name of the backend.
    """

    workload: str
    backend: str

    def __str__(self) -> str:
        return f"{self.workload}@{self.backend}"


class Status(StrEnum):
    """What became of a case in a round."""

    MEASURED = "measured"
    SKIPPED = "skipped"
    """The adapter said `Unsupported`: nothing was tried."""
    FAILED = "failed"
    """It raised, or its output was not finite."""
    QUARANTINED = "quarantined"
    """It killed or hung the process; the round was redone without it."""


class Facts(_Record, frozen=True):
    """What a library decided for a case; a fact it does not give is None.

    Attributes
    ----------
    resolved_backend
        What `auto` became, e.g. `fa3`.
    splits_kv
        Whether some request's KV is split over several work items.
    chunk_tokens
        KV tokens of one chunk.
    padded_batch
        Work items of the planned grid, padding included.
    q_tile
        Rows of a query tile.
    max_splits
        Chunks of the request that is split most.
    work_items
        Chunks of all requests together, for one query tile and one KV head.
    cubin
        What the GPU runs: SHA-256, first 12 hex digits, of the device code in the library file
        that holds the kernels. Host code, which also lies there, is left out.
    """

    resolved_backend: str | None = None
    splits_kv: bool | None = None
    chunk_tokens: int | None = None
    padded_batch: int | None = None
    q_tile: int | None = None
    max_splits: int | None = None
    work_items: int | None = None
    cubin: str | None = None


class Kernel(_Record, frozen=True):
    """One GPU kernel of a launch.

    Attributes
    ----------
    name
        Without template and call arguments.
    grid, block
        Launch shape: thread blocks, and threads of a block, along x, y and z.
    """

    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]

    def __str__(self) -> str:
        grid, block = ("x".join(map(str, shape)) for shape in (self.grid, self.block))
        return f"{self.name}<<<{grid}, {block}>>>"


class CaseRecord(_Record, frozen=True):
    """One case in one round.

    Attributes
    ----------
    reason
        Why it was not measured; empty if it was.
    kernel_us
        Median kernel time of each pass, in microseconds.
    samples
        Samples behind each pass median.
    sm_mhz
        SM clock read after each pass's block, in MHz; empty where it cannot be read.
    plan_us
        Host time of single plan() calls, in microseconds; empty without plan().
    error
        Relative L2 error of the output against a float32-or-better reference.
    workspace_bytes
        Device memory that the backend holds for this case alone, beside inputs and output. With
        FlashInfer that is the integer workspace; the float workspace is shared by all cases.
    cupti_us
        Sum of the kernels' own times in one replay as CUPTI saw them: a cross-check, not judged.
    kernels
        The GPU kernels of one replay, in order, as CUPTI saw them.
    warnings
        Stable codes of what is doubtful about this measurement.
    """

    case: Case
    status: Status
    reason: str = ""
    kernel_us: tuple[float, ...] = ()
    samples: tuple[int, ...] = ()
    sm_mhz: tuple[int, ...] = ()
    plan_us: tuple[float, ...] = ()
    error: float | None = None
    workspace_bytes: int | None = None
    cupti_us: float | None = None
    kernels: tuple[Kernel, ...] = ()
    facts: Facts | None = None
    warnings: tuple[str, ...] = ()

    @property
    def time_us(self) -> float | None:
        """The round's one kernel time, in microseconds; None if it was not measured.

        The median of the pass medians: it outvotes passes hit by one-sided slow excursions.
        Over 1,178 cells of 30 recorded H200 rounds its spread between processes was 0.49 % below
        50 µs, against 1.0 % for the mean of the lower half; above 50 µs both had 0.17 %.
        """
        return median(self.kernel_us) if self.kernel_us else None

    @property
    def plan_time_us(self) -> float | None:
        """The round's one plan() host time, in microseconds; None without plan()."""
        return median(self.plan_us) if self.plan_us else None


class StackRef(_Record, frozen=True):
    """The stack that was measured, as pinned and as imported.

    Attributes
    ----------
    digest
        SHA-256 over the stack's pins and wheel hashes.
    imported
        Version of each pinned distribution in the worker's environment; with a GPU it is also
        what the imported module says of itself.
    derived
        For each pinned wheel of which only a part was installed, by file name, the SHA-256 of the
        wheel derived from it (`benchmarks.slim`); the pinned wheel's own is part of `digest`.
    """

    tag: str
    digest: str
    imported: dict[str, str]
    derived: dict[str, str] = {}


class Machine(_Record, frozen=True):
    """Where a round ran. Equal `name` alone does not make rounds comparable; see regress.

    Attributes
    ----------
    name
        The user's name for this kind of machine, e.g. `h200`.
    gpu
        Model as the driver calls it, or `cpu`.
    gpu_uuid
        The card; empty without one.
    driver, cuda, nvcc, torch, python
        Versions; empty where there is none.
    """

    name: str
    gpu: str
    gpu_uuid: str
    sm_count: int
    driver: str
    cuda: str
    nvcc: str
    torch: str
    python: str


class Protocol(_Record, frozen=True):
    """How times were taken; rounds of different protocols are never compared.

    Attributes
    ----------
    version
        Counts changes of the measuring code that move times.
    timer
        `cuda-graph-events` or `perf-counter`.
    passes
        Shuffled passes over all cases.
    block_ms, rest_ms
        Time budget of one case's block in a pass, and idle time before it.
    heavy_block_ms, heavy_rest_ms
        The same for compute-bound cases; the rest is kept after them too.
    flush_bytes
        Device memory overwritten before each sample, so that the L2 cache is cold.
    """

    version: int
    timer: str
    passes: int
    block_ms: float
    rest_ms: float
    heavy_block_ms: float
    heavy_rest_ms: float
    flush_bytes: int


class Conditions(_Record, frozen=True):
    """The card's state after one pass, read and never set.

    Attributes
    ----------
    power_w, temperature_c
        Board power in watts, GPU temperature in degrees Celsius.
    throttle
        NVML's bit mask of clock event reasons; 0 where nothing held the clocks back.
    """

    power_w: float
    temperature_c: int
    throttle: int


class Design(_Record, frozen=True):
    """Where a round stands in measuring that was planned beforehand.

    Every round tells what was planned, so the others still tell it when one is missing.

    Attributes
    ----------
    run
        Id of the whole of it; a run that was broken off and went on has several campaigns.
    stage
        Name of a part with cases and blocks of its own, e.g. `rounds`, `screen-1`, `confirm`.
    stacks
        Tags of the stacks of every block: each block has one round of each, in random order.
    block, blocks
        This round's block, from 1, and how many the stage was planned to have.
    cases
        How many cases the round was to hold; 0 where an older suite did not say.
    """

    run: str
    stage: str
    stacks: tuple[str, ...]
    block: int
    blocks: int
    cases: int = 0


class Round(_Record, frozen=True):
    """One fresh process of one stack: the unit of analysis.

    Attributes
    ----------
    id
        Unique; two files with one id are one round.
    campaign
        One stretch of measuring on one machine; rounds of one campaign are interleaved.
    started_at
        UTC, ISO 8601.
    tier
        `gate`, `nightly`, `sweep`, or `custom` for a hand-picked set.
    seconds
        Where the time went: `import`, `build`, `measure`, `kernels` (measured kernels and their
        flushes, a part of `measure`), `view`, `total`; and `wait`, not in `total`, if the process
        was started while the round before was measured.
    conditions
        The card's state after each pass; empty where it cannot be read.
    cases
        Every case that was planned, whatever became of it.
    design
        What this round was a part of; none for a single round, as asv measures it.
    """

    schema: int
    id: str
    campaign: str
    started_at: str
    stack: StackRef
    machine: Machine
    protocol: Protocol
    tier: str
    seconds: dict[str, float]
    cases: tuple[CaseRecord, ...]
    conditions: tuple[Conditions, ...] = ()
    warnings: tuple[str, ...] = ()
    design: Design | None = None
