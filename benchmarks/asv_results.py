"""asv's result files, written from rounds: one sample a round, so that samples are independent."""

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from asv import environment, util
from asv import results as asv_results
from asv.benchmark import __file__ as asv_script
from asv.benchmarks import Benchmarks
from asv.machine import Machine
from asv.runner import BenchmarkResult

from benchmarks._suite import CLASSES, KERNEL_TIME, PLAN_TIME
from benchmarks.errors import UserError
from benchmarks.ledger import write_ledger
from benchmarks.paths import LEDGER, RESULTS, ROOT
from benchmarks.stacks import Stack
from workloads.catalog import TIERS, cases
from workloads.record import CaseRecord, Round, Status

__all__ = ["write_results"]

_PYTHON: Final = "host"
"""As `pythons` in asv.conf.json: results of all Pythons have one name."""
_FAILURES: Final = (Status.FAILED, Status.QUARANTINED)


def write_results(
    rounds_of: Mapping[str, Mapping[str, tuple[Round, ...]]],
    stacks: tuple[Stack, ...],
    *,
    tier: str = TIERS[-1],
    ledger: Path = LEDGER,
    results: Path = RESULTS,
) -> None:
    """Write asv's result files, machine files and benchmark list.

    Parameters
    ----------
    rounds_of
        Rounds by machine name and stack; results of other machines stay as they are.
    stacks
        All stacks; the ledger is made from them.
    tier
        Tier whose benchmarks go into the list that `asv publish` shows.
    ledger, results
        Where the repository and asv's results are. What was there before is replaced at the end,
        when all that is new is written.

    Raises
    ------
    UserError
        If the ledger, the benchmark list or the results cannot be made.
    """
    write_ledger(stacks, ledger)
    commits = _commits(ledger)
    times = {stack.tag: stack.time for stack in stacks}
    try:
        results.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            dir=results.parent, prefix=".results-", ignore_cleanup_errors=True
        ) as scratch:
            fresh, old = Path(scratch, "fresh"), Path(scratch, "old")
            for name, by_stack in sorted(rounds_of.items()):
                _write_machine(fresh, name, by_stack, commits, times)
            _write_benchmarks(fresh, tier)
            _swap(fresh, results, old)
    except OSError as error:
        msg = f"cannot write asv's results: {error}"
        raise UserError(msg) from error


def _write_machine(
    folder: Path,
    name: str,
    by_stack: Mapping[str, tuple[Round, ...]],
    commits: Mapping[str, str],
    times: Mapping[str, datetime],
) -> None:
    newest = max((r for rounds in by_stack.values() for r in rounds), key=_started)
    util.write_json(str(folder / name / "machine.json"), _machine(newest), Machine.api_version)
    for tag, rounds in sorted(by_stack.items()):
        date = util.datetime_to_js_timestamp(times[tag])
        _results(rounds, commits[tag], date).save(str(folder))


def _swap(fresh: Path, results: Path, old: Path) -> None:
    """Put what is in `fresh` into the results; what has its name there goes to `old`."""
    results.mkdir(exist_ok=True)
    old.mkdir()
    for made in sorted(fresh.iterdir()):
        if (results / made.name).exists():
            (results / made.name).rename(old / made.name)
        made.rename(results / made.name)


def _started(round_: Round) -> tuple[str, str]:
    return round_.started_at, round_.id


def _commits(ledger: Path) -> dict[str, str]:
    command = ["git", "-C", str(ledger), "for-each-ref", "refs/tags"]
    command += ["--format=%(refname:strip=2) %(objectname)"]
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    shown = _told(command, env, "cannot read the ledger")
    return dict(line.split() for line in shown.splitlines())


def _told(command: list[str], env: Mapping[str, str], failure: str) -> str:
    """Return what a command prints; if it fails, its last words are the error."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        msg = f"{failure}: {reason[0]}"
        raise UserError(msg)
    return done.stdout


def _machine(round_: Round) -> dict[str, str]:
    machine = round_.machine
    return {"machine": machine.name, "gpu": machine.gpu, "driver": machine.driver}


def _results(rounds: tuple[Round, ...], commit: str, date: int) -> Any:
    env_name = environment.get_env_name("stack", _PYTHON, {}, {})
    params = _machine(rounds[-1]) | {"python": _PYTHON}
    stored = asv_results.Results(params, {}, commit, date, _PYTHON, env_name, {})
    started = datetime.fromisoformat(rounds[0].started_at)
    version = str(rounds[0].protocol.version)
    for name, cells in sorted(_rows(rounds).items()):
        if cells:
            benchmark = {"name": name, "version": version, "params": [[repr(c) for c in cells]]}
            stored.add_result(
                benchmark, _benchmark_result(cells), started_at=started, record_samples=True
            )
    return stored


def _rows(rounds: tuple[Round, ...]) -> dict[str, dict[str, Any]]:
    """Return, for each benchmark and cell, its samples in seconds, None (failed) or NaN."""
    records: dict[str, list[CaseRecord]] = {}
    for record in (record for r in rounds for record in r.cases):
        records.setdefault(str(record.case), []).append(record)
    rows: dict[str, dict[str, Any]] = {}
    for entry in cases():
        cell = str(entry.case)
        if cell not in records:
            continue
        kernel = rows.setdefault(f"{CLASSES[entry.family]}.{KERNEL_TIME}", {})
        plan = rows.setdefault(f"{CLASSES[entry.family]}.{PLAN_TIME}", {})
        kernel[cell] = _value(records[cell])
        # A backend without plan() is no skipped cell but none at all.
        if planned := [r.plan_time_us * 1e-6 for r in records[cell] if r.plan_time_us is not None]:
            plan[cell] = planned
    return rows


def _value(records: list[CaseRecord]) -> list[float] | float | None:
    times = [r.time_us * 1e-6 for r in records if r.time_us is not None]
    if times:
        return times
    return None if any(r.status in _FAILURES for r in records) else math.nan


def _benchmark_result(cells: Mapping[str, Any]) -> Any:
    values = list(cells.values())
    return BenchmarkResult(
        result=[True if isinstance(value, list) else value for value in values],
        samples=[value if isinstance(value, list) else None for value in values],
        number=[1 if isinstance(value, list) else None for value in values],
        errcode=0,
        stderr="",
        profile=None,
    )


def _write_benchmarks(results: Path, tier: str) -> None:
    """Write the benchmark list as asv's own discovery gives it for this tier."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "benchmarks.json")
        command = [sys.executable, asv_script, "discover", str(ROOT / "benchmarks"), str(listed)]
        kept = {k: v for k, v in os.environ.items() if k not in {"ATTN_CELLS", "PYTHONPATH"}}
        _told(command, kept | {"ATTN_TIER": tier}, "asv finds no benchmarks")
        found = json.loads(listed.read_text(encoding="utf-8"))
    path = Benchmarks.get_benchmark_file_path(str(results))
    util.write_json(path, {b["name"]: b for b in found}, Benchmarks.api_version)
