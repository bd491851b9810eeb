"""Synthetic rounds: made-up numbers for tests, never results of a measurement."""

import gzip
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from regress.config import parse_config
from regress.model.cell import Cell
from regress.pipeline.cells import build_cells, index
from regress.pipeline.noise import Noise
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

CONFIG = parse_config("", "default.toml")
NO_NOISE = Noise(({}, {}), tuple, CONFIG.noise, {})
WORKLOAD = "decode-h32x4-d128-bf16-p16-b66-skew40-t262144"
CASE = Case(WORKLOAD, "flashinfer-decode-tc-auto")
OTHER = Case(WORKLOAD, "flashinfer-decode-tc-fa2")

MACHINE = Machine(
    name="synthetic",
    gpu="Synthetic GPU",
    gpu_uuid="GPU-0",
    sm_count=132,
    driver="580.65.06",
    cuda="13.0",
    nvcc="13.0",
    torch="2.11.0",
    python="3.11.9",
)
PROTOCOL = Protocol(
    version=1,
    timer="cuda-graph-events",
    passes=3,
    block_ms=2.0,
    rest_ms=4.0,
    heavy_block_ms=4.0,
    heavy_rest_ms=20.0,
    flush_bytes=1 << 28,
)


def measured(case: Case, time_us: float, **fields: Any) -> CaseRecord:
    """A case whose passes all took the same time."""
    values = {"error": 1e-3, **fields}
    return CaseRecord(case, Status.MEASURED, kernel_us=(time_us,) * 3, samples=(9,) * 3, **values)


def lost(case: Case, status: Status = Status.FAILED, reason: str = "boom") -> CaseRecord:
    """A case that was planned and has no time."""
    return CaseRecord(case, status, reason=reason)


def make_round(
    tag: str, number: int, records: Iterable[CaseRecord], campaign: str = "c1", **fields: Any
) -> Round:
    """One synthetic round; `number` orders the rounds of a campaign."""
    records = tuple(records)
    passes = max((len(record.kernel_us) for record in records), default=0) or PROTOCOL.passes
    values: dict[str, Any] = {
        "schema": SCHEMA,
        "id": f"{tag}-{campaign}-{number}",
        "campaign": campaign,
        "started_at": f"2026-01-{_day(campaign):02d}T00:{number:02d}:00Z",
        "stack": StackRef(tag, f"digest-{tag}", {"flashinfer-python": tag[1:]}),
        "machine": MACHINE,
        "protocol": msgspec.structs.replace(PROTOCOL, passes=passes),
        "tier": "nightly",
        "seconds": {"total": 10.0},
        "cases": records,
    }
    return Round(**{**values, **fields})


def _day(campaign: str) -> int:
    """Campaigns `c1`, `c2` … are a day apart."""
    return int(campaign.removeprefix("c")) if campaign.startswith("c") else 1


def rounds_of(
    tag: str, times: Mapping[Case, Sequence[float]], campaign: str = "c1"
) -> tuple[Round, ...]:
    """Rounds from a list of times a case; every list has one time a round."""
    columns = zip(*times.values(), strict=True)
    return tuple(
        make_round(
            tag,
            number,
            (measured(case, time) for case, time in zip(times, column, strict=True)),
            campaign,
        )
        for number, column in enumerate(columns)
    )


def write_rounds(root: Path, rounds: Iterable[Round]) -> list[Path]:
    """Write round files where `regress` looks for them."""
    paths = []
    for found in rounds:
        folder = root / found.machine.name / found.stack.tag
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{found.id}.json.gz"
        path.write_bytes(gzip.compress(msgspec.json.encode(found), mtime=0))
        paths.append(path)
    return paths


def cell_of(base: Sequence[float], head: Sequence[float], case: Case = CASE) -> Cell:
    """The cell of one case with these times on the two sides."""
    return cell_from(rounds_of("vbase", {case: base}), rounds_of("vhead", {case: head}), case)


def cell_from(base: Iterable[Round], head: Iterable[Round], case: Case = CASE) -> Cell:
    """The cell of one case from rounds of two stacks."""
    sides = index(base), index(head)
    noise = Noise(sides, tuple, CONFIG.noise, {})
    (cell,) = build_cells({case: "made-up"}, *sides, noise)
    return cell
