"""What a skewed batch costs along a batch axis, and where each planner stops splitting it."""

from itertools import pairwise

import msgspec

__all__ = ["BatchPoint", "Curve", "Sweep"]


class BatchPoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One batch size: the same KV tokens spread evenly, and with one long request.

    Attributes
    ----------
    uniform_us, skewed_us
        Median kernel times over rounds, in microseconds.
    splits
        Chunks of the long request, as the library planned it.
    """

    batch: int
    uniform_us: float
    skewed_us: float
    splits: int

    @property
    def penalty(self) -> float:
        """Skewed over uniform time."""
        return self.skewed_us / self.uniform_us


class Curve(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One backend over rising batch sizes."""

    backend: str
    points: tuple[BatchPoint, ...]

    @property
    def cliff(self) -> tuple[BatchPoint, BatchPoint] | None:
        """The last point that splits the long request and the first that does not."""
        for before, after in pairwise(self.points):
            if before.splits > 1 and after.splits == 1:
                return before, after
        return None


class Sweep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Curves of several backends under one stack.

    Attributes
    ----------
    stack, pins
        Tag and imported versions.
    gpu, cards
        Model, and how many different cards measured it.
    tokens, percent
        KV tokens of every batch, and the share of them that the long request holds.
    shape
        Heads, head dimension, type and page size, in words.
    """

    stack: str
    pins: dict[str, str]
    gpu: str
    cards: int
    rounds: int
    tokens: int
    percent: int
    shape: str
    curves: tuple[Curve, ...]
