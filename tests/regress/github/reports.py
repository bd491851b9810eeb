"""Made-up reports of the gate, with any number of findings: nothing of it was measured."""

from itertools import islice

from regress.errors import ExitCode
from regress.model.bump import BUMP_SCHEMA, Bump, BumpCode, BumpReason, Direction, PinChange, State
from regress.model.finding import Change, Finding, Measured, Metric, Ratio, RoundIds, Series
from regress.model.reason import Reason, ReasonCode
from regress.model.report import Blind, CellVerdict, CheckReport
from regress.model.verdict import Verdict
from tests.regress.github.worlds import BASE, HEAD, NAME
from tests.regress.report.samples import RUN, bare
from tests.regress.report.test_run_text import RATE
from workloads import catalog
from workloads.record import Case

__all__ = ["bump", "report"]

_CODES = {
    Verdict.REGRESSION: ReasonCode.SLOWER,
    Verdict.IMPROVEMENT: ReasonCode.FASTER,
    Verdict.SAME: ReasonCode.EQUIVALENT,
    Verdict.UNDECIDED: ReasonCode.INSIDE_NOISE,
    Verdict.GONE: ReasonCode.FAILED,
}
_EVIDENCE = (
    Change("resolved_backend", "fa2", "fa3"),
    Change("chunk_tokens", 4096, None),
    Change("cubin", "3f0daf62d05d", "c44dbfcfd79c"),
    Change("sm_mhz", 1785, 1790),
)


def bump(**fields: object) -> Bump:
    """FlashInfer goes up in a pull request."""
    values: dict[str, object] = {
        "schema": BUMP_SCHEMA,
        "repository": NAME,
        "pull": 7,
        "base_sha": BASE,
        "head_sha": HEAD,
        "state": State.MEASURE,
        "reason": BumpReason(BumpCode.CHANGED, "pins of measured libraries changed"),
        "changes": (
            PinChange(
                "flashinfer-python", "0.6.0", "0.6.1", Direction.UPGRADE, ("requirements.txt",)
            ),
        ),
        "base_pins": ("flashinfer-python==0.6.0",),
        "head_pins": ("flashinfer-python==0.6.1",),
    }
    return Bump(**{**values, **fields})  # type: ignore[arg-type]


def report(counts: dict[Verdict, int], code: ExitCode, **fields: object) -> CheckReport:
    """Return a report with so many cases of each verdict, the first of them naming the whole."""
    names = iter(_cases())
    findings = tuple(
        _finding(case, verdict, number)
        for verdict, count in counts.items()
        for number, case in enumerate(islice(names, count))
    )
    cells = tuple(CellVerdict(f.series.case, f.family, f.verdict) for f in findings)
    values: dict[str, object] = {
        "base": "v0.6.0",
        "head": "v0.6.1",
        "machine": "h200",
        "setup": {"gpu": "NVIDIA H200", "driver": "580", "torch": "2.11.0"},
        "tier": "gate",
        "command": "python -m regress ab v0.6.0 v0.6.1 --tier gate",
        "verdict": next(iter(counts), Verdict.NO_DATA),
        "exit_code": code,
        "cells": cells,
        "findings": findings,
        "rounds": RoundIds(("b1", "b2"), ("h1", "h2")),
        "warnings": ("v0.6.0: throttled at some moment in 3 of 72 cells",),
        "run": RUN,
        "error_rate": RATE,
        "blind": (Blind(0.02, 3), Blind(0.01, 9)),
    }
    return bare(**{**values, **fields})


def _cases() -> list[Case]:
    """Return enough names: the catalog's, then the same under names of made-up backends."""
    known = [entry.case for entry in catalog.cases("sweep")]
    return [*known, *(Case(case.workload, f"{case.backend}-x") for case in known)]


def _finding(case: Case, verdict: Verdict, number: int) -> Finding:
    ratio = {Verdict.REGRESSION: 5.0 - number / 100, Verdict.IMPROVEMENT: 0.8}.get(verdict, 1.0)
    base_us = 143.2
    figures = Measured(
        base_us,
        base_us * ratio,
        Ratio(ratio, ratio * 0.998, ratio * 1.002, 0.99),
        noise=0.003,
        floor=0.005,
        margin=0.004,
        p_slower=0.0001,
        p_faster=0.9999,
    )
    told = "failed in head: RuntimeError: does not compile: error: static assertion failed"
    return Finding(
        "confirm",
        "decode-sweep",
        Series(case, Metric.KERNEL_TIME),
        verdict,
        Reason(_CODES[verdict], told if verdict is Verdict.GONE else f"made up: {verdict.lower()}"),
        RoundIds(("b1",), ("h1",)),
        measured=None if verdict is Verdict.GONE else figures,
        evidence=_EVIDENCE if verdict is Verdict.REGRESSION else (),
    )


RED = report({Verdict.REGRESSION: 2, Verdict.SAME: 70}, ExitCode.REGRESSION)
"""A made-up report of a gate that got worse."""
