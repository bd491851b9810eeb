"""A few telling cells over the releases."""

import msgspec

from workloads.record import Case

__all__ = ["Year", "YearLine", "YearPoint", "YearRelease"]


class YearRelease(msgspec.Struct, frozen=True):
    """One release: its tag, and its date in ISO 8601."""

    tag: str
    day: str


class YearPoint(msgspec.Struct, frozen=True):
    """Kernel time of a cell under a release, in microseconds: median, least and most of rounds."""

    tag: str
    median_us: float
    low_us: float
    high_us: float
    rounds: int


class YearLine(msgspec.Struct, frozen=True):
    """One cell.

    Attributes
    ----------
    label
        What it is, in words.
    like_for_like
        Whether it reads paged KV as the others do.
    points
        In order of the releases; those without a time are missing.
    """

    label: str
    case: Case
    like_for_like: bool
    points: tuple[YearPoint, ...]


class Year(msgspec.Struct, frozen=True):
    """All of them, on one GPU model."""

    gpu: str
    releases: tuple[YearRelease, ...]
    lines: tuple[YearLine, ...]
