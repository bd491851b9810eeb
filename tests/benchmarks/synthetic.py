"""Synthetic stacks and rounds for tests; no number here was ever measured."""

from datetime import UTC, datetime

from benchmarks.stacks import Stack, Wheel
from workloads.record import (
    SCHEMA,
    Case,
    CaseRecord,
    Machine,
    Protocol,
    Round,
    StackRef,
    Status,
)


def wheel(name: str, version: str, fill: str = "a", path: str = "") -> Wheel:
    return Wheel(f"{name.replace('-', '_')}-{version}-py3-none-any.whl", fill * 64, path)


def stack(tag: str, day: int = 1, pins: dict[str, str] | None = None) -> Stack:
    pinned = pins or {"flashinfer-python": tag.removeprefix("v")}
    wheels = {name: (wheel(name, version),) for name, version in pinned.items()}
    return Stack(tag, datetime(2026, 1, day, 5, 40, 25, tzinfo=UTC), pinned, wheels)


def measured(case: Case, time_us: float, plan_us: float | None = None) -> CaseRecord:
    plan = () if plan_us is None else (plan_us,)
    return CaseRecord(
        case, Status.MEASURED, kernel_us=(time_us,) * 4, samples=(9,) * 4, plan_us=plan
    )


def synthetic_round(  # noqa: PLR0913 - every field a test varies
    of: Stack,
    cases: tuple[CaseRecord, ...] = (),
    *,
    number: int = 0,
    machine: str = "synthetic",
    tier: str = "gate",
    protocol: int = 1,
    warnings: tuple[str, ...] = (),
) -> Round:
    return Round(
        SCHEMA,
        f"id{number}",
        "campaign",
        f"2026-02-01T00:{number:02}:00Z",
        StackRef(of.tag, of.digest, dict(of.pins)),
        Machine(machine, "Synthetic GPU", "GPU-0", 1, "1", "13.0", "13.0", "2.11", "3.12"),
        Protocol(protocol, "perf-counter", 4, 1.0, 0.0, 1.0, 0.0, 0),
        tier,
        {"total": 1.0},
        cases,
        warnings=warnings,
    )
