"""What planners decided on real GPUs, against what their models say."""

import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from workloads.backend import backend
from workloads.devices import DEVICES, Device
from workloads.planner import Plan, plan
from workloads.record import CaseRecord, Facts, Kernel, Round
from workloads.workload import parse

RECORDED = Path(__file__).parents[3] / "benchmarks" / "recorded"
FACTS = ("splits_kv", "chunk_tokens", "padded_batch", "q_tile", "max_splits", "work_items")
UNPLANNED = {"torch", "none"}

Cell = tuple[str, str, str | None, Facts | None, tuple[Kernel, ...]]


def _device(round_: Round) -> Device:
    words = round_.machine.gpu.lower().split()
    fitting = [d for d in DEVICES if d.name in words and d.sms == round_.machine.sm_count]
    assert len(fitting) == 1, f"the device table lacks {round_.machine.gpu}"
    return fitting[0]


def _planned(record: CaseRecord) -> bool:
    known = backend(record.case.backend).library not in UNPLANNED
    return known and (record.facts is not None or bool(record.kernels))


def _cells() -> Iterator[tuple[Device, Cell]]:
    for path in sorted(RECORDED.rglob("*.json.gz")):
        round_ = msgspec.json.decode(gzip.decompress(path.read_bytes()), type=Round)
        device = _device(round_)
        for record in filter(_planned, round_.cases):
            version = round_.stack.imported.get(backend(record.case.backend).library)
            facts = record.facts and msgspec.structs.replace(record.facts, cubin=None)
            case = record.case
            yield device, (case.workload, case.backend, version, facts, record.kernels)


@pytest.fixture(scope="module")
def planned() -> list[tuple[Cell, Plan]]:
    distinct = dict.fromkeys(_cells())
    return [
        (cell, plan(cell[1], parse(cell[0]), device, version=cell[2])) for device, cell in distinct
    ]


def test_every_recorded_plan_is_predicted_exactly(planned: list[tuple[Cell, Plan]]) -> None:
    """Chunks, splits, work items, padding and query tile of all recorded cells come out equal."""
    equal: Counter[str] = Counter()
    wrong = []
    for cell, model in planned:
        for name in FACTS:
            told = getattr(cell[3], name, None)
            if told is None:
                continue
            if getattr(model, name) == told:
                equal[name] += 1
            else:
                wrong.append((*cell[:3], name, told, getattr(model, name)))
    assert not wrong
    assert set(equal) == set(FACTS)
    # 10,593 when this was written: files that vanish must not make it easier.
    assert equal.total() > 10_000


def test_every_recorded_launch_is_predicted_exactly(planned: list[tuple[Cell, Plan]]) -> None:
    """A profiler saw the very kernels that the model names, and the grid that it computes."""
    launched = [(cell, model) for cell, model in planned if cell[4]]
    wrong = []
    for cell, model in launched:
        names = [name for name in (model.prepare, model.kernel, model.merge) if name]
        grid = cell[4][1 if model.prepare else 0].grid
        if [kernel.name for kernel in cell[4]] != names or grid != model.grid:
            wrong.append((*cell[:3], [str(k) for k in cell[4]], names, model.grid))
    assert launched
    assert not wrong


def test_every_planner_with_a_model_was_recorded(planned: list[tuple[Cell, Plan]]) -> None:
    """FlashAttention-2 alone rests on its source only."""
    assert {model.path for _, model in planned} == {"cuda", "fa2", "fa3", "flash-attn-3"}


def test_what_auto_became_is_predicted(planned: list[tuple[Cell, Plan]]) -> None:
    """Release by release, `auto` becomes the path that the library told."""
    chosen = [(cell, model) for cell, model in planned if backend(cell[1]).chooses]
    told = {(cell[3].resolved_backend, model.path) for cell, model in chosen if cell[3]}
    # 0.5.3 kept the word `auto` for fa2, and the first rounds recorded it as it stood.
    assert told == {("fa2", "fa2"), ("fa3", "fa3"), ("auto", "fa2")}
