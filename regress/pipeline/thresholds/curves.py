"""Sorting the uniform decode batches of a stack into courses, and backends into pairs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from regress.model.line import UNIFORM, Course, Curves, Extra, TimesUs, Varies
from regress.pipeline.thresholds.lines import Found, parsed, times_of
from workloads.backend import backend, kvcache_name
from workloads.record import Case
from workloads.workload import Phase

__all__ = ["curves_of"]

_Key = tuple[Varies, str, str]

_STEPS: Final = (
    ("prepare", "fa3-varlen", "fa3-varlen-metadata"),
    ("prepare", kvcache_name("true", "auto"), "fa3-kvcache-metadata"),
    ("merge", kvcache_name("true", "2"), kvcache_name("true", "1")),
    ("merge", kvcache_name("true", "4"), kvcache_name("true", "1")),
)
"""(step, backend that does it, backend that does not)."""


def curves_of(found: Mapping[Case, Found]) -> Curves:
    """Return every course of at least two points and every pair that one workload has."""
    courses: dict[_Key, dict[int, TimesUs]] = defaultdict(dict)
    timed = {case: times for case, f in found.items() if (times := times_of(f))}
    for case, times in timed.items():
        for key, value in _places(case):
            courses[key][value] = times
    return Curves(
        tuple(
            Course(varies, line, name, backend(name).mode, tuple(sorted(points.items())))
            for (varies, line, name), points in sorted(courses.items())
            if len(points) > 1
        ),
        tuple(_extras(timed)),
    )


def _places(case: Case) -> Iterator[tuple[_Key, int]]:
    """Yield the courses that a case lies on, and where."""
    workload = parsed(case.workload)
    kv = workload.kv
    if workload.phase is not Phase.DECODE or kv.distribution != UNIFORM:
        return
    shape = case.workload.partition(f"-b{kv.batch}-")[0]
    yield (Varies.TOKENS, f"{shape}-b{kv.batch}-{UNIFORM}", case.backend), kv.total
    yield (Varies.BATCH, f"{shape}-{UNIFORM}-t{kv.total}", case.backend), kv.batch
    if kv.total % kv.batch == 0:
        line = f"{shape}-{UNIFORM}, {kv.total // kv.batch} tokens a request"
        yield (Varies.REQUESTS, line, case.backend), kv.batch


def _extras(timed: Mapping[Case, TimesUs]) -> Iterator[Extra]:
    for case, times in sorted(timed.items()):
        for step, doing, without in _STEPS:
            other = timed.get(Case(case.workload, without))
            if case.backend == doing and other is not None:
                kv = parsed(case.workload).kv
                mode = backend(doing).mode
                yield Extra(step, case.workload, kv.batch, doing, mode, without, other, times)
