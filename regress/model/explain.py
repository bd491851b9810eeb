"""What `explain` says of a batch on a device, backend by backend."""

import msgspec

__all__ = [
    "EXPLAIN_SCHEMA",
    "BackendExplained",
    "Explanation",
    "Measured",
    "ModelError",
    "PlanTold",
    "Predicted",
]

EXPLAIN_SCHEMA = 1


class _Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class ModelError(_Told, frozen=True):
    """How far the model of time was off where it could be held against measurements.

    Attributes
    ----------
    gpu
        Card of the recorded rounds. Of other cards nothing is known.
    cells
        Decode cells of 50 us and more, of all recorded stacks.
    median, most
        Median and 90th percentile of |predicted / measured - 1|.
    """

    gpu: str
    cells: int
    median: float
    most: float


class PlanTold(_Told, frozen=True):
    """What the planner decides.

    Attributes
    ----------
    tasks
        Query tiles of all requests for one head: what there is without any split.
    max_splits, longest_splits
        Chunks of the request that is split most, and of the longest one.
    chunk_tokens
        KV tokens of the longest chunk.
    work_items, heads, ctas
        Items of one head, heads, and CTAs (or turns of persistent ones) in all.
    waves
        CTAs over those that fit on the device at once; None where the latter is not known.
    threshold
        Requests from which on nothing is split, however long; None if that depends on more.
    kernel, prepare, merge
        What a profiler names.
    """

    tasks: int
    max_splits: int
    longest_splits: int
    chunk_tokens: int
    work_items: int
    heads: int
    ctas: int
    waves: float | None
    grid: tuple[int, int, int]
    schedule: str
    threshold: int | None
    kernel: str
    prepare: str | None
    merge: str | None


class Predicted(_Told, frozen=True):
    """What a model says of the time. Nothing here is measured.

    Attributes
    ----------
    time_us
        All of it, in microseconds.
    overhead_us, merge_us
        Parts of it: launch with the kernel that prepares; kernel that merges.
    longest_us, longest_tokens
        The CTA that runs longest, and the KV tokens that it reads.
    idle_share
        Share of the SMs' time, until the last CTA ends, in which they hold none.
    imbalance
        Time of the attention kernel over that of the same work, spread evenly.
    error
        How far the model was off.
    """

    time_us: float
    overhead_us: float
    merge_us: float
    longest_us: float
    longest_tokens: int
    idle_share: float
    imbalance: float
    error: ModelError


class Measured(_Told, frozen=True):
    """The same case as recorded.

    Attributes
    ----------
    time_us
        Median over rounds, in microseconds.
    """

    gpu: str
    stack: str
    rounds: int
    time_us: float


class BackendExplained(_Told, frozen=True):
    """One backend on this batch.

    Attributes
    ----------
    refused
        Why there is no plan; empty if there is one.
    unpredicted
        Why there is no time; empty if there is one.
    why
        One sentence on what decides the time.
    profiler
        One sentence on the name that a profiler shows; empty where it is no surprise.
    """

    backend: str
    path: str = ""
    refused: str = ""
    unpredicted: str = ""
    plan: PlanTold | None = None
    predicted: Predicted | None = None
    measured: Measured | None = None
    why: str = ""
    profiler: str = ""


class Explanation(_Told, frozen=True):
    """One batch, explained.

    Attributes
    ----------
    workload
        Slug, or where the KV lengths are from.
    shape
        Heads, head dimension, types and page size, in words.
    sms
        Streaming multiprocessors of the device.
    flashinfer
        Release whose rules were applied; None for the newest known.
    requests, kv_tokens, longest_tokens
        Of the batch.
    advice
        What would help, by the model; a sentence each.
    """

    schema: int
    command: str
    workload: str
    shape: str
    device: str
    sms: int
    flashinfer: str | None
    requests: int
    kv_tokens: int
    longest_tokens: int
    backends: tuple[BackendExplained, ...]
    advice: tuple[str, ...]
