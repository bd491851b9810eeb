"""A deployment profile: the model, how it is served, and the decode batches it sees."""

from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Final

import msgspec

from workloads.backend import Mode
from workloads.planner.plan import Batch
from workloads.shape import AttentionShape, DType
from workloads.workload import Workload

__all__ = ["Deployment", "Load", "MixEntry", "ModelFields", "ProfileFile"]

_MOST_LAYERS: Final = 1024
_MOST_HEADS: Final = 1024
_MOST_WIDTH: Final = 1024
_MOST_REQUESTS: Final = 1 << 14
_MOST_TOKENS: Final = 1 << 23

Layers = Annotated[int, msgspec.Meta(ge=1, le=_MOST_LAYERS)]
Heads = Annotated[int, msgspec.Meta(ge=1, le=_MOST_HEADS)]
Width = Annotated[int, msgspec.Meta(ge=1, le=_MOST_WIDTH)]
Requests = Annotated[int, msgspec.Meta(ge=1, le=_MOST_REQUESTS)]
Tokens = Annotated[int, msgspec.Meta(ge=1, le=_MOST_TOKENS)]


class ModelFields(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[model]`.

    Attributes
    ----------
    q_heads, kv_heads
        Of the whole model, before tensor parallelism.
    layers
        Attention layers.
    """

    q_heads: Heads
    kv_heads: Heads
    layers: Layers
    head_dim: Width = 128
    dtype: DType = DType.BF16
    kv_dtype: DType = DType.BF16
    page_size: Width = 16


class MixEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[mix]]`: a batch and how often it occurs.

    Attributes
    ----------
    batch
        Requests.
    kv_tokens
        KV tokens of all requests together.
    distribution
        How the requests share them, see `workloads.kvlen`.
    weight
        Share of the steps, in any unit.

    Raises
    ------
    ValueError
        msgspec makes it a validation error with the entry's path.
    """

    batch: Requests
    kv_tokens: Tokens
    distribution: str = "uniform"
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not (isfinite(self.weight) and self.weight > 0):
            msg = f"a weight is a number above 0, not {self.weight:g}"
            raise ValueError(msg)


class ProfileFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A profile as it is written in TOML.

    Attributes
    ----------
    tp
        GPUs that share the heads.
    mix, trace
        The load: entries, or the name of a file beside the profile; one of them.
    backends
        Whose cost is wanted; empty for the usual ones of the mode.
    """

    name: str
    mode: Mode
    model: ModelFields
    tp: Heads = 1
    mix: tuple[MixEntry, ...] = ()
    trace: str | None = None
    backends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Load:
    """One decode batch of a profile.

    Attributes
    ----------
    name
        Slug, or the first step of the trace that has this batch.
    weight
        Share of the steps, in any unit.
    workload
        The workload; None for a batch of a trace.
    """

    name: str
    weight: float
    batch: Batch
    workload: Workload | None = None


@dataclass(frozen=True, slots=True)
class Deployment:
    """A profile that was checked, with heads as one GPU has them.

    Attributes
    ----------
    steps
        Steps that the trace has, 0 without one; `loads` may be a sample of them.
    """

    name: str
    mode: Mode
    tp: int
    layers: int
    shape: AttentionShape
    loads: tuple[Load, ...]
    backends: tuple[str, ...]
    steps: int = 0
