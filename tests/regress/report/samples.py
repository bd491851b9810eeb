"""A synthetic report with every kind of finding, and waivers to go with it."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from regress.errors import ExitCode
from regress.model.finding import RoundIds
from regress.model.report import CHECK_SCHEMA, CheckReport
from regress.model.run import RunTold, StageTold
from regress.model.verdict import Verdict
from regress.model.waiver import Waiver, Waivers
from regress.pipeline.check import check
from regress.pipeline.request import Request
from tests.regress.builders import (
    CASE,
    CONFIG,
    OTHER,
    WORKLOAD,
    lost,
    make_round,
    measured,
    write_rounds,
)
from workloads.record import Case, CaseRecord, Facts, Kernel, Status

QUIET = (100.0, 100.1, 99.9, 100.2, 99.8)
TODAY = date(2026, 3, 1)
CUDA = Case(WORKLOAD, "flashinfer-decode-cuda")
FA3 = Case(WORKLOAD, "flashinfer-decode-tc-fa3")
VARLEN = Case(WORKLOAD, "fa3-varlen")
SERVING = Case(WORKLOAD, "flashinfer-decode-cuda-serving")
SPLITS = Case(WORKLOAD, "fa3-varlen-splits-1")
PAGED = Case(WORKLOAD, "flash-attn-paged")
CASE_TEXT = f"`{CASE.workload}`<br>`{CASE.backend}`"
HOSTILE = "a|b `c` <script>x</script> @someone #1 [l](http://x) {0} \x1b[31m \x00 *b* ]]>"


def waiver(**fields: object) -> Waiver:
    """A waiver of the slower case, as an owner would write it."""
    values: dict[str, object] = {
        "cells": "tc-auto$",
        "since": "v2",
        "reason": "auto is not used here",
        "owner": "serving",
        "expires": TODAY,
    }
    return Waiver(**{**values, **fields})  # type: ignore[arg-type]


def _facts(resolved: str) -> Facts:
    return Facts(resolved_backend=resolved, chunk_tokens=4096)


def _base(time_us: float) -> list[CaseRecord]:
    kernel = Kernel("flashinfer::A", (1, 1, 1), (32, 1, 1))
    return [
        measured(CASE, time_us, facts=_facts("fa2"), kernels=(kernel,), plan_us=(30.0,)),
        measured(OTHER, time_us),
        measured(VARLEN, time_us),
        measured(CUDA, time_us),
        measured(SPLITS, time_us),
        measured(SERVING, time_us),
        lost(FA3, Status.SKIPPED, "has no fa3 decode"),
        lost(PAGED, Status.SKIPPED, "no wheel is pinned"),
    ]


def _head(time_us: float, reason: str) -> list[CaseRecord]:
    kernel = Kernel("flashinfer::B", (2, 1, 1), (32, 1, 1))
    facts = _facts("fa3")
    return [
        measured(CASE, time_us * 4, facts=facts, kernels=(kernel,), plan_us=(90.0,)),
        measured(OTHER, time_us),
        measured(VARLEN, time_us * 0.8),
        lost(CUDA, Status.FAILED, reason),
        measured(SPLITS, time_us, error=None),
        measured(FA3, time_us),
        lost(PAGED, Status.SKIPPED, "no wheel is pinned"),
    ]


def mixed(
    root: Path,
    waivers: Sequence[Waiver] | None = None,
    pattern: str | None = None,
    reason: str = "boom",
) -> CheckReport:
    """GONE, REGRESSION, NO_DATA, UNDECIDED, IMPROVEMENT, NEW, SAME and a case without data."""
    rounds = [make_round("v1", n, _base(t)) for n, t in enumerate(QUIET)]
    rounds += [make_round("v2", n, _head(t, reason)) for n, t in enumerate(QUIET)]
    write_rounds(root, rounds)
    known = None if waivers is None else Waivers("waivers.toml", tuple(waivers), TODAY)
    return check("v1", "v2", Request((root,), None, "any", pattern, "made up", known), CONFIG)


ACCEPTED = (waiver(), waiver(cells="decode-cuda$", verdicts=(Verdict.GONE,), reason="dropped"))


RUN = RunTold(
    id="ab-made-up",
    campaigns=("c1", "c2"),
    stages=(
        StageTold("screen-1", 4, 70, equal=60, suspect=4, open=6, without_time=0, seconds=81.0),
        StageTold("confirm", 10, 10, equal=8, suspect=2, open=0, without_time=0, seconds=60.4),
    ),
    seconds=141.4,
    elapsed_s=99.6,
    leftovers=("r7",),
    family_alpha=0.008,
    spread_alpha=0.002,
)
"""What `ab` would tell of a run; no run was made."""


def bare(**fields: object) -> CheckReport:
    """A report of nothing, with some fields set."""
    values: dict[str, object] = {
        "schema": CHECK_SCHEMA,
        "command": "made up",
        "base": "v1",
        "head": "v2",
        "machine": "synthetic",
        "setup": {"gpu": "Synthetic GPU"},
        "tier": "any",
        "pattern": None,
        "verdict": Verdict.NO_DATA,
        "exit_code": ExitCode.NO_DATA,
        "cells": (),
        "findings": (),
        "unmeasured": (),
        "blind": (),
        "rounds": RoundIds((), ()),
        "warnings": (),
    }
    return CheckReport(**{**values, **fields})  # type: ignore[arg-type]
