"""A line of decode workloads of which only the batch size differs, as rounds show it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec

from workloads.backend import Mode
from workloads.record import Case

__all__ = [
    "UNIFORM",
    "Axis",
    "Course",
    "Curves",
    "Extra",
    "Line",
    "Point",
    "TimesUs",
    "Varies",
]

UNIFORM: Final = "uniform"
TimesUs = Mapping[str, tuple[float, ...]]
"""Kernel times in microseconds by campaign, one number a round."""


class Axis(msgspec.Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """What stays the same along a line.

    Attributes
    ----------
    shape
        The slug up to the batch size, e.g. `decode-h32x4-d128-bf16-p16`.
    tokens
        KV tokens of every batch.
    distribution
        How a skewed batch shares them, e.g. `skew40`.
    """

    shape: str
    tokens: int
    backend: str
    mode: Mode
    distribution: str

    def case(self, batch: int, distribution: str | None = None) -> Case:
        """Return the case of a batch size; of another distribution if one is given."""
        spread = distribution or self.distribution
        return Case(f"{self.shape}-b{batch}-{spread}-t{self.tokens}", self.backend)

    def __str__(self) -> str:
        return f"{self.shape}-{self.distribution}-t{self.tokens}@{self.backend}"


@dataclass(frozen=True, slots=True)
class Point:
    """One batch size.

    Attributes
    ----------
    splits
        Whether the planner splits the longest request, if the rounds tell and agree.
    uniform_us, skewed_us
        Times of the even and of the skewed batch.
    """

    batch: int
    splits: bool | None
    uniform_us: TimesUs
    skewed_us: TimesUs


@dataclass(frozen=True, slots=True)
class Line:
    """The batch sizes of an axis under one stack, in rising order.

    Attributes
    ----------
    rounds
        Ids of the rounds that hold any of it.
    mixed
        Batch sizes at which rounds planned differently.
    """

    axis: Axis
    points: tuple[Point, ...]
    rounds: tuple[str, ...]
    mixed: tuple[int, ...] = ()


class Varies(StrEnum):
    """What grows along a course of uniform batches."""

    TOKENS = "KV tokens"
    """At equal batch size."""
    BATCH = "batch size at equal KV tokens"
    REQUESTS = "batch size at equal KV tokens a request"


@dataclass(frozen=True, slots=True)
class Course:
    """Times of uniform decode batches of one backend along one thing that grows.

    Attributes
    ----------
    line
        The slug without what grows.
    points
        (value of what grows, times), in rising order.
    """

    varies: Varies
    line: str
    backend: str
    mode: Mode
    points: tuple[tuple[int, TimesUs], ...]


@dataclass(frozen=True, slots=True)
class Extra:
    """Two backends on one workload, of which one does a step that the other does not.

    Attributes
    ----------
    step
        `prepare` or `merge`.
    batch
        Its batch size.
    without_us, with_us
        Times without and with the step.
    """

    step: str
    workload: str
    batch: int
    backend: str
    mode: Mode
    without: str
    without_us: TimesUs
    with_us: TimesUs


@dataclass(frozen=True, slots=True)
class Curves:
    """What shapes are looked for in."""

    courses: tuple[Course, ...]
    extras: tuple[Extra, ...]
