"""What `explain` says of a serving trace."""

import msgspec

from regress.model.explain import ModelError

__all__ = ["TRACE_SCHEMA", "Spread", "TraceBackend", "TraceSummary"]

TRACE_SCHEMA = 1


class _Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Spread(_Told, frozen=True):
    """Percentiles of a quantity over steps."""

    p10: float
    median: float
    p90: float
    p99: float
    most: float


class TraceBackend(_Told, frozen=True):
    """One backend over the steps of a trace, by a model.

    Attributes
    ----------
    refused
        Why there is nothing to say; empty if there is.
    threshold
        Requests from which on nothing is split; None if that depends on more.
    unsplit
        Share of modelled steps in which nothing is split.
    uneven
        Share of modelled steps whose imbalance is above `uneven_from`.
    time_us, imbalance
        Of a step.
    total_s
        All steps together, in seconds: the mean of the modelled ones times all.
    worst_line
        Line of the trace with the largest imbalance among the modelled steps.
    """

    backend: str
    refused: str = ""
    threshold: int | None = None
    unsplit: float = 0.0
    uneven: float = 0.0
    time_us: Spread | None = None
    imbalance: Spread | None = None
    total_s: float = 0.0
    worst_line: int = 0
    error: ModelError | None = None


class TraceSummary(_Told, frozen=True):
    """A trace on a device.

    Attributes
    ----------
    steps, modelled
        Steps of the trace, and how many of them, evenly spaced, were planned and timed.
    requests, kv_tokens, longest_share
        Over all steps: requests of a batch, its KV tokens, and the share of the longest request.
    """

    schema: int
    command: str
    trace: str
    shape: str
    device: str
    sms: int
    steps: int
    modelled: int
    uneven_from: float
    requests: Spread
    kv_tokens: Spread
    longest_share: Spread
    backends: tuple[TraceBackend, ...]
