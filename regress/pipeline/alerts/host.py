"""The signal "regression" of a host: stacks that were measured before got slower on it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from regress.config import Config
from regress.counted import counted
from regress.errors import ExitCode
from regress.model.alert import Alert, Assessment, Cleared, Signal
from regress.model.finding import Finding
from regress.model.report import CheckReport
from regress.pipeline.ab.runs import is_whole
from regress.pipeline.nights import check_nights, start_of
from regress.pipeline.request import Request
from regress.report.finding_text import render_figures
from regress.report.headline import render_counts
from workloads.record import Round

__all__ = ["assess_host", "host_key", "stacks_of_both_nights"]

_SHOWN = 10


def host_key(machine: str) -> str:
    """Return the key of the alert that a machine got slower."""
    return f"{Signal.REGRESSION}:{machine}:host"


def stacks_of_both_nights(
    rounds: Mapping[str, Sequence[Round]], since: datetime, before: datetime
) -> tuple[str, ...]:
    """Return the stacks that have whole rounds since a time, and some from before another."""
    found = []
    for tag, of_stack in rounds.items():
        starts = [start_of(r) for r in of_stack if is_whole(r)]
        if any(s >= since for s in starts) and any(s < before for s in starts):
            found.append(tag)
    return tuple(found)


def assess_host(
    tags: Sequence[str],
    since: datetime,
    request: Request,
    config: Config,
    before: datetime | None = None,
) -> Assessment:
    """Return an alert if one of these stacks got worse on a machine; it is cleared if none did.

    Parameters
    ----------
    tags
        From `stacks_of_both_nights`.
    since
        When tonight began.
    before
        When an alert that stands was first seen: then the last good night is what counts.

    Raises
    ------
    UsageError
        If a round file is wrong, or the set-ups of the nights differ.
    """
    machine = request.machine or ""
    reports = [check_nights(tag, since, request, config, before) for tag in tags]
    worse = [report for report in reports if report.exit_code is ExitCode.REGRESSION]
    if worse:
        return Assessment((_alert(machine, worse, since, before),))
    if reports and all(report.exit_code is ExitCode.PASS for report in reports):
        told = f"{machine} is as fast as before with {' and '.join(tags)}."
        return Assessment(cleared=(Cleared(host_key(machine), told),))
    return Assessment()


def _alert(
    machine: str, reports: Sequence[CheckReport], since: datetime, before: datetime | None
) -> Alert:
    first = max(reports, key=lambda report: len(_bad(report)))
    slowest = max(
        (f.measured.ratio.estimate for r in reports for f in _bad(r) if f.measured), default=None
    )
    much = f", up to {slowest:.2f}x" if slowest else ""
    number = len({finding.series.case for finding in _bad(first)})
    told = "; ".join(f"{r.head}: {render_counts(c.verdict for c in r.cells)}" for r in reports)
    asked = [f"--before {before:%Y-%m-%dT%H:%M:%SZ}"] if before else []
    words = ["python -m regress check", first.head, first.head, f"--machine {machine}"]
    words += [f"--since {since:%Y-%m-%dT%H:%M:%SZ}", *asked, "--tier any --rounds data/rounds"]
    return Alert(
        Signal.REGRESSION,
        host_key(machine),
        f"{machine} got slower: {number} of {len(first.cells)} cases of {first.head}{much}",
        f"The same stack got worse on {machine}, so it is the host and not the library: {told}.",
        tuple(line for report in reports for line in _lines(report)),
        " ".join(words),
        tuple(report.head for report in reports),
        f"{machine}/index.html",
    )


def _bad(report: CheckReport) -> list[Finding]:
    return [
        f for f in report.findings if f.gates and report.code_of(f.verdict) is ExitCode.REGRESSION
    ]


def _lines(report: CheckReport) -> Iterator[str]:
    """Yield when was compared, what else changed, and the cases that changed most."""
    bad = _bad(report)
    yield f"{report.head}: {report.warnings[0]}"
    for name, number in Counter(c.name for f in bad for c in f.evidence).most_common():
        yield f"{name} differs in {number} of {counted(len(bad), 'case')}"
    for finding in bad[:_SHOWN]:
        figures = " ".join(render_figures(finding))
        told = figures or f"{finding.verdict}: {finding.reason.message}"
        yield f"{told} {finding.series.case}"
    if len(bad) > _SHOWN:
        yield f"{len(bad) - _SHOWN} more of {report.head}"
