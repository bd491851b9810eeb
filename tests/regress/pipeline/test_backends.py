"""From round files to a report on choosing a backend."""

from pathlib import Path

import msgspec
import pytest

from regress.errors import ExitCode, NoDataError, UsageError
from regress.model.backends import BackendsReport, Choice
from regress.pipeline.backends import backends
from regress.pipeline.request import Request
from regress.report.json import render_json
from tests.regress.builders import (
    CASE,
    CONFIG,
    OTHER,
    WORKLOAD,
    lost,
    make_round,
    measured,
    rounds_of,
    write_rounds,
)
from workloads.record import Case, Facts, Round, Status

QUIET = (100.0, 100.1, 99.9, 100.2, 99.8)


def _report(root: Path, fail_over: float | None = None) -> BackendsReport:
    request = Request((root,), None, "any", None, "command")
    return backends("v1", request, CONFIG, fail_over=fail_over)


def _rounds(factor: float, rounds: int = 5) -> list[Round]:
    auto = Facts(resolved_backend="fa3")
    absent = lost(Case(WORKLOAD, "flash-attn-paged"), Status.SKIPPED, "not installed")
    return [
        make_round("v1", n, [measured(CASE, t * factor, facts=auto), measured(OTHER, t), absent])
        for n, t in enumerate(QUIET[:rounds])
    ]


def test_auto_is_named_with_what_it_became(tmp_path: Path) -> None:
    """The family, the resolved kernel, absent backends and round ids are all in the report."""
    write_rounds(tmp_path, _rounds(4.0))
    report = _report(tmp_path)
    (family,) = [f for f in report.families if not f.policy]
    assert (family.chooser, family.choice) == (CASE.backend, Choice.INVERTED)
    assert {r.resolved for r in report.regrets if r.picked == CASE.backend} == {"fa3"}
    assert [t.reason for t in report.times if t.time_us is None] == ["not installed"]
    assert report.regrets[0].rounds == tuple(f"v1-c1-{n}" for n in range(5))
    assert report.exit_code is ExitCode.PASS


@pytest.mark.parametrize(
    ("factor", "rounds", "code"),
    [
        (4.0, 5, ExitCode.REGRESSION),
        (1.1, 5, ExitCode.PASS),
        (4.0, 2, ExitCode.UNDECIDED),
    ],
)
def test_fail_over(tmp_path: Path, factor: float, rounds: int, code: ExitCode) -> None:
    """Only a regret that is shown fails; one that too few rounds suggest is undecided."""
    write_rounds(tmp_path, _rounds(factor, rounds))
    assert _report(tmp_path, fail_over=1.2).exit_code is code


def test_json_round_trips(tmp_path: Path) -> None:
    """The report reads back from its JSON as it was, strictly."""
    write_rounds(tmp_path, _rounds(4.0))
    report = _report(tmp_path)
    assert msgspec.json.decode(render_json(report), type=BackendsReport) == report


def test_nothing_measured_is_no_data(tmp_path: Path) -> None:
    """Rounds without any measured case end with exit 4."""
    write_rounds(tmp_path, [make_round("v1", 0, [lost(CASE)])])
    with pytest.raises(NoDataError, match="no wanted case of v1 was measured"):
        _report(tmp_path)


def test_an_unknown_backend_is_one_line(tmp_path: Path) -> None:
    """A round of a newer suite's backend is named, not ignored."""
    write_rounds(tmp_path, rounds_of("v1", {Case(WORKLOAD, "tomorrow"): QUIET}))
    with pytest.raises(UsageError, match="unknown backend 'tomorrow'"):
        _report(tmp_path)
