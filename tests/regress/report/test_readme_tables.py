"""The README's tables from made-up rounds and reports."""

from pathlib import Path

from inline_snapshot import snapshot

from regress.model.sweep import BatchPoint, Curve, Sweep
from regress.pipeline.backends import backends
from regress.pipeline.check import check
from regress.pipeline.request import Request
from regress.report.readme_tables import (
    render_checks,
    render_choices,
    render_cliffs,
    render_recorded,
    render_seconds,
    render_totals,
)
from tests.regress.builders import (
    CASE,
    CONFIG,
    OTHER,
    make_round,
    measured,
    rounds_of,
    write_rounds,
)

QUIET = (100.0, 100.1, 99.9, 100.2, 99.8)
SECONDS = {"import": 1.0, "build": 3.0, "measure": 20.0, "kernels": 11.0, "total": 25.0}


def _request(tmp_path: Path) -> Request:
    slow = tuple(5 * t for t in QUIET)
    write_rounds(tmp_path, rounds_of("v1", {CASE: QUIET, OTHER: QUIET}))
    write_rounds(tmp_path, rounds_of("v2", {CASE: slow, OTHER: QUIET}))
    return Request((tmp_path,), None, "any", None, "made up")


def test_a_pair_is_a_row(tmp_path: Path) -> None:
    """Verdict, exit code, counts and the range of ratios of `auto` by distribution."""
    report = check("v1", "v2", _request(tmp_path), CONFIG)
    assert render_checks([report]).splitlines()[2] == snapshot(
        "| v1 → v2 | REGRESSION | 1 | 1 REGRESSION, 1 SAME | none | 5.00x to 5.00x |"
    )


def test_a_family_is_a_row(tmp_path: Path) -> None:
    """What `auto` costs, without the engines' policies."""
    table = render_choices(backends("v2", _request(tmp_path), CONFIG))
    (row,) = table.splitlines()[2:]
    assert row.startswith("| decode (eager) | INVERTED: 1 of 1 workload | 5.00x | 5.00x |")
    assert row.endswith("| `flashinfer-decode-tc-fa2` | at most 1.00x the best |")


def test_a_curve_without_a_cliff_is_no_row() -> None:
    """Only backends that stop splitting are listed, with the penalty on both sides."""
    points = (BatchPoint(8, 100.0, 101.0, 4), BatchPoint(16, 100.0, 900.0, 1))
    curves = (Curve("jumps", points), Curve("flat", points[:1]))
    sweep = Sweep("v9", {}, "Synthetic GPU", 1, 1, 1024, 40, "1/1 heads", curves)
    assert render_cliffs(sweep).splitlines()[2:] == snapshot(
        ["| `jumps` | 16 requests | 1.0x | 1.0x | 9.0x |"]
    )


def test_rounds_and_their_seconds_are_counted() -> None:
    """Stacks by tier, campaigns and cards; a tier without rounds says so."""
    first = make_round("v1", 1, [measured(CASE, 1.0)], seconds=SECONDS)
    second = make_round("v1", 2, [measured(CASE, 1.0)], "c2", seconds=SECONDS)
    assert render_recorded({"v1": [first, second]}).splitlines()[2] == "| v1 | 2 | 2 | 1 |"
    assert render_totals({"v1": [first, second]}).startswith(
        "Recorded: 2 rounds (2 nightly) of 1 stack on 1 card. Set-up: "
    )
    gate, nightly, _ = render_seconds({"v1": [first, second]}).splitlines()[2:]
    assert "none recorded" in gate
    assert nightly.endswith("| 2 | 25 s (most 25 s) | 4 s (most 4 s) | 20 s | 55% |")
