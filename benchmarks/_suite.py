"""What the asv classes share: their cells, and the rounds that answer asv's requests.

asv asks for one benchmark and parameter at a time, but the unit of measuring is a round over all
selected cells. So the first request of a worker measures a round, later ones read it, and a
request that this round has answered already asks for the next round.
"""

import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

from benchmarks.errors import UserError
from benchmarks.measure.passes import PROTOCOL_VERSION
from benchmarks.plan import KV_MEMORY_GIB, parse_gib
from benchmarks.rounds import load_round
from benchmarks.stacks import find_stack
from workloads.catalog import TIERS, Entry, cases
from workloads.record import Case, CaseRecord, Round, Status

__all__ = ["CLASSES", "KERNEL_TIME", "PLAN_TIME", "Selection", "Session", "load_selection"]

KERNEL_TIME: Final = "track_kernel_time"
PLAN_TIME: Final = "track_plan_time"
CLASSES: Final = {
    "decode-sweep": "decode.DecodeSweep",
    "linearity": "decode.Linearity",
    "llama-decode": "decode.LlamaDecode",
    "tp-shards": "decode.TpShards",
    "fp8-kv": "decode.Fp8Kv",
    "prefill-paths": "prefill.PrefillPaths",
    "gqa-throughput": "gqa.GqaThroughput",
    "cpu": "cpu.Cpu",
}
"""asv's name of the class of each family of the catalog."""
_TIMEOUT_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cells are measured.

    Attributes
    ----------
    tier
        Tier of the catalog, environment variable ATTN_TIER.
    cells
        Regular expression on `workload@backend`, ATTN_CELLS; empty for all.
    bench
        asv's own regular expressions (`asv run -b`), ATTN_BENCH as a JSON list; the plugin sets it.
    quick
        Whether to try every case out only (`asv run --quick`), ATTN_QUICK; the plugin sets it.
    """

    tier: str = "gate"
    cells: str = ""
    bench: tuple[str, ...] = ()
    quick: bool = False

    def offered(self) -> tuple[Entry, ...]:
        """Return the entries that asv is shown as parameters."""
        return tuple(e for e in cases(self.tier) if re.search(self.cells, str(e.case)))

    def measured(self) -> tuple[Case, ...]:
        """Return the cases of a round: those that asv's expressions leave of the offered ones."""
        return tuple(e.case for e in self.offered() if not self.bench or self._asked_for(e))

    def _asked_for(self, entry: Entry) -> bool:
        # asv matches against `name(param)`, where a parameter is shown by its repr.
        class_name, parameter = CLASSES[entry.family], repr(str(entry.case))
        names = [f"{class_name}.{track}({parameter})" for track in (KERNEL_TIME, PLAN_TIME)]
        return any(re.search(pattern, name) for pattern in self.bench for name in names)

    @property
    def label(self) -> str:
        """The tier, or `custom` if it is not measured as a whole."""
        return self.tier if len(self.measured()) == len(cases(self.tier)) else "custom"


def load_selection() -> Selection:
    """Read the selection from the environment.

    Raises
    ------
    UserError
        If a value is malformed.
    """
    tier = os.environ.get("ATTN_TIER", TIERS[0])
    if tier not in TIERS:
        msg = f"ATTN_TIER is {tier!r}: use one of {', '.join(TIERS)}"
        raise UserError(msg)
    cells = os.environ.get("ATTN_CELLS", "")
    try:
        re.compile(cells)
    except (re.error, OverflowError, RecursionError) as error:
        msg = f"ATTN_CELLS is no regular expression: {error}"
        raise UserError(msg) from error
    bench = tuple(json.loads(os.environ.get("ATTN_BENCH", "[]")))
    return Selection(tier, cells, bench, quick="ATTN_QUICK" in os.environ)


class Session:
    """Answers requests out of rounds.

    Parameters
    ----------
    measure
        Measures a round; it may raise, and is then not called again before the next round.
    """

    def __init__(self, measure: Callable[[], Round]) -> None:
        self._measure = measure
        self._answered: set[tuple[str, str]] = set()
        self._records: dict[str, CaseRecord] = {}
        self._problem = ""
        self._begun = False

    def record(self, benchmark: str, cell: str) -> CaseRecord:
        """Return the record of a cell in the round that this request belongs to.

        Raises
        ------
        RuntimeError
            If the round could not be measured, or lacks the cell.
        """
        if not self._begun or (benchmark, cell) in self._answered:
            self._begin()
        self._answered.add((benchmark, cell))
        if self._problem:
            raise RuntimeError(self._problem)
        if cell not in self._records:
            msg = f"the round has no cell {cell}"
            raise RuntimeError(msg)
        return self._records[cell]

    def _begin(self) -> None:
        self._begun, self._problem = True, ""
        self._answered.clear()
        self._records = {}
        try:
            self._records = {str(record.case): record for record in self._measure().cases}
        except (UserError, OSError, ImportError) as error:
            self._problem = f"no round: {error}"


def _measure_here() -> Round:
    from benchmarks.campaign import Options, measure_round

    tag = os.environ.get("ATTN_STACK")
    if tag is None:
        msg = "this process belongs to no stack: use the environment type of asv.conf.json"
        raise UserError(msg)
    chosen = load_selection()
    options = Options(
        tier=chosen.label,
        campaign=os.environ["ATTN_CAMPAIGN"],
        machine=os.environ.get("ATTN_MACHINE"),
        quick=chosen.quick,
        kv_memory_gib=_kv_memory_gib(),
    )
    path = measure_round(find_stack(tag), chosen.measured(), options, Path(sys.executable))
    return load_round(path)


def _kv_memory_gib() -> float:
    given = os.environ.get("ATTN_KV_MEMORY_GIB", str(KV_MEMORY_GIB))
    try:
        return parse_gib(given)
    except ValueError as error:
        msg = f"ATTN_KV_MEMORY_GIB: {error}"
        raise UserError(msg) from error


@cache
def _session() -> Session:
    return Session(_measure_here)


class _Family:
    """Base of the asv classes: one parameter, the cell, and two tracks."""

    family: ClassVar[str] = ""
    params: ClassVar[list[list[str]]] = [[]]
    param_names: ClassVar[list[str]] = ["cell"]
    type = "time"
    unit = "seconds"
    version = str(PROTOCOL_VERSION)
    timeout = _TIMEOUT_S

    def __init_subclass__(cls, *, family: str) -> None:
        cls.family = family
        cls.params = [[str(e.case) for e in load_selection().offered() if e.family == family]]

    def track_kernel_time(self, cell: str) -> dict[str, Any]:
        """Kernel time of a cell, in seconds."""
        record = _session().record(f"{self.family}.{KERNEL_TIME}", cell)
        return _answer(record, record.time_us, "kernel time")

    def track_plan_time(self, cell: str) -> dict[str, Any]:
        """Host time of plan(), in seconds."""
        record = _session().record(f"{self.family}.{PLAN_TIME}", cell)
        return _answer(record, record.plan_time_us, "plan()")


def _answer(record: CaseRecord, value_us: float | None, what: str) -> dict[str, Any]:
    """Return what asv stores as one sample, or raise what it stores as skipped or failed."""
    from asv_runner.benchmarks.mark import SkipNotImplemented

    if record.status is Status.SKIPPED or (record.status is Status.MEASURED and value_us is None):
        reason = record.reason or f"this backend has no {what}"
        sys.stderr.write(f"skipped: {reason}\n")
        raise SkipNotImplemented(reason)
    if value_us is None or record.status is not Status.MEASURED:
        msg = f"{record.status}: {record.reason}"
        raise RuntimeError(msg)
    return {"samples": [value_us * 1e-6], "number": 1}
