"""The recorded rounds as the README shows them: verdicts, choices of backend, a batch sweep."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from regress.config import Config, load_config
from regress.errors import NoDataError
from regress.model.backends import BackendsReport
from regress.model.calibration import Calibration
from regress.model.history import History
from regress.model.report import CheckReport
from regress.model.sweep import BatchPoint, Curve, Sweep
from regress.model.year import Year
from regress.pipeline.ab.ab import judge_run
from regress.pipeline.ab.runs import find_runs
from regress.pipeline.ab.state import Sought
from regress.pipeline.backends import backends
from regress.pipeline.check import check
from regress.pipeline.history.history import history
from regress.pipeline.request import Request
from regress.pipeline.year import recorded_year
from regress.store.calibration import load_calibration
from regress.store.rounds import load_machine
from regress.store.setup import setup
from regress.store.tree import RECORDED, scan
from workloads.record import CaseRecord, Round
from workloads.shape import AttentionShape
from workloads.workload import Phase, parse

__all__ = ["Recorded", "load_recorded", "sweep_of"]

_MACHINE: Final = "h200"
_PAIRS: Final = (("v0.6.0", "v0.6.1"), ("v0.5.3", "v0.6.0"), ("v0.6.3", "v0.6.4"))
_STACK: Final = "v0.6.1"
_SHAPE: Final = AttentionShape(32, 4)
_TOKENS: Final = 262_144
_PERCENT: Final = 40
_BACKENDS: Final = ("flashinfer-decode-tc-fa2", "flashinfer-decode-cuda", "fa3-varlen")


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the recorded rounds say.

    Attributes
    ----------
    rounds
        By stack tag.
    checks
        Of the pairs of stacks that the README compares.
    runs
        Every run of `ab`, judged again, in order of its start.
    calibration
        The latest one.
    choices
        Backends of the stack whose `auto` is far from the best.
    sweep
        Its decode sweep.
    year
        A few telling cells over the releases.
    history
        Every change over the releases.
    """

    rounds: Mapping[str, Sequence[Round]]
    checks: tuple[CheckReport, ...]
    runs: tuple[CheckReport, ...]
    calibration: Calibration
    choices: BackendsReport
    sweep: Sweep
    year: Year
    history: History


def load_recorded() -> Recorded:
    """Read and judge the recorded rounds.

    Raises
    ------
    RegressError
        If they are damaged or incomplete.
    """
    config = load_config()
    rounds = load_machine(scan((RECORDED,)), _MACHINE).rounds
    calibration = load_calibration(setup(rounds[_STACK][-1]))
    if calibration is None:
        msg = f"no calibration of {_MACHINE} is stored: the README quotes one"
        raise NoDataError(msg)
    return Recorded(
        rounds=rounds,
        checks=tuple(check(*pair, _request("check", *pair), config) for pair in _PAIRS),
        runs=tuple(_runs(rounds, config)),
        calibration=calibration,
        choices=backends(_STACK, _request("backends", _STACK), config),
        sweep=sweep_of([r for r in rounds[_STACK] if r.tier == "sweep"]),
        year=recorded_year(rounds),
        history=history(_request("history"), config),
    )


def _runs(rounds: Mapping[str, Sequence[Round]], config: Config) -> Iterator[CheckReport]:
    every = [r for found in rounds.values() for r in found]
    planned = dict.fromkeys(r.design.stacks for r in every if r.design)
    pairs = [stacks for stacks in planned if len(stacks) == len(_PAIRS[0])]
    runs = [run for base, head in pairs for run in find_runs(every, base, head)]
    for run in sorted(runs, key=lambda run: run.rounds[0].started_at):
        request = _request("ab", run.base, run.head)
        yield judge_run(Sought(run.base, run.head, request, config), run.id)


def _request(*words: str) -> Request:
    command = " ".join(("python -m regress", *words, "--recorded"))
    return Request((RECORDED,), _MACHINE, "nightly", None, command)


def sweep_of(rounds: Sequence[Round]) -> Sweep:
    """Return the decode sweep with Qwen3-30B-A3B's heads from sweep rounds of one stack.

    Raises
    ------
    NoDataError
        If there is no round.
    """
    if not rounds:
        msg = f"no sweep round of {_STACK} is recorded: the README's picture needs one"
        raise NoDataError(msg)
    found: dict[tuple[str, str, int], list[CaseRecord]] = defaultdict(list)
    for r in rounds:
        for record in r.cases:
            workload = parse(record.case.workload)
            kv = workload.kv
            if (workload.phase, workload.shape, kv.total) == (Phase.DECODE, _SHAPE, _TOKENS):
                found[record.case.backend, kv.distribution, kv.batch].append(record)
    first = rounds[0]
    return Sweep(
        stack=first.stack.tag,
        pins=dict(sorted(first.stack.imported.items())),
        gpu=first.machine.gpu,
        cards=len({r.machine.gpu_uuid for r in rounds}),
        rounds=len(rounds),
        tokens=_TOKENS,
        percent=_PERCENT,
        shape=(
            f"{_SHAPE.q_heads}/{_SHAPE.kv_heads} heads, head dimension {_SHAPE.head_dim}, "
            f"{_SHAPE.dtype.upper()}, page {_SHAPE.page_size}"
        ),
        curves=tuple(_curve(name, found) for name in _BACKENDS),
    )


def _curve(backend: str, found: Mapping[tuple[str, str, int], Sequence[CaseRecord]]) -> Curve:
    skew = f"skew{_PERCENT}"
    batches = sorted(batch for name, kind, batch in found if (name, kind) == (backend, skew))
    points = []
    for batch in batches:
        skewed = found[backend, skew, batch]
        uniform = found.get((backend, "uniform", batch), ())
        splits = {r.facts.max_splits for r in skewed if r.facts and r.facts.max_splits}
        times_us = [[r.time_us for r in side if r.time_us] for side in (uniform, skewed)]
        if splits and all(times_us):
            uniform_us, skewed_us = (round(median(t), 1) for t in times_us)
            points.append(BatchPoint(batch, uniform_us, skewed_us, max(splits)))
    return Curve(backend, tuple(points))
