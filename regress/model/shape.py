"""What a curve of times looks like: straight, rippled, drifting, with a peak."""

from enum import StrEnum

import msgspec

from workloads.backend import Mode

__all__ = ["ShapeFinding", "ShapeKind"]


class ShapeKind(StrEnum):
    """What is looked for; the words are in the glossary."""

    LINEARITY = "linearity"
    """Time of uniform batches against total KV tokens."""
    RIPPLE = "ripple"
    """Uniform batches of equal KV tokens that cost more than both of their neighbours."""
    PLATEAU = "plateau"
    """Skewed batches that are not split and cost more than the others of them."""
    DRIFT = "drift"
    """Head over base that grows or falls along a line."""
    PREPARE = "prepare"
    """What FA3's prepare step costs: with the step against metadata computed ahead."""
    MERGE = "merge"
    """What splitting costs where it is not needed: one split against several."""
    THROUGHPUT = "throughput"
    """Tokens a second against batch size, with its peak."""


class ShapeFinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One curve and what is said of it.

    Attributes
    ----------
    line
        The slug without what varies, e.g. `decode-h32x4-d128-bf16-p16-b128-uniform`.
    notable
        Whether it is beyond what noise and the configured margin allow.
    message
        For people; the numbers are in `figures`.
    figures
        Numbers with their units in the names.
    """

    kind: ShapeKind
    line: str
    backend: str
    mode: Mode
    notable: bool
    message: str
    figures: dict[str, float]
