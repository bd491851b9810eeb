"""The signal "regression" of a release: from the history of all of them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from regress.counted import counted
from regress.errors import ExitCode, UsageError
from regress.model.alert import Alert, Assessment, Cleared, Signal
from regress.model.history import History, HistoryFinding
from regress.model.verdict import EXIT_CODES
from regress.report.view import render_ratio

__all__ = ["assess_releases", "load_history"]

_SHOWN = 10


def load_history(path: Path) -> History:
    """Read what `regress history --format json` wrote.

    Raises
    ------
    UsageError
        If it cannot be read, or is none.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=History)
    except (OSError, msgspec.DecodeError) as error:
        msg = f"{path} is no history as JSON: {error}"
        raise UsageError(msg) from error


def assess_releases(history: History) -> Assessment:
    """Return an alert for each regression that the newest release still has.

    One that is taken back, or that more rounds no longer show, is cleared; with a damaged round
    file left out, only what is shown to be taken back is.
    """
    standing = [f for f in history.findings if f.standing and f.gates and _is_bad(f)]
    prefix = f"{Signal.REGRESSION}:{history.machine}:release:"
    alerts = tuple(_alert(history, finding, prefix) for finding in standing)
    cleared = [*_taken_back(history, prefix)]
    if not history.damaged and _is_whole(history):
        known = tuple(release.stack for release in history.releases)
        named = (*(alert.key for alert in alerts), *(one.key for one in cleared))
        cleared.append(Cleared(prefix, "More rounds no longer show it.", known, named))
    return Assessment(alerts, tuple(cleared))


def _is_whole(history: History) -> bool:
    """Whether it is about everything: what a part does not show may stand all the same."""
    return history.since is None and history.pattern is None and not history.families


def _taken_back(history: History, prefix: str) -> Iterator[Cleared]:
    """Yield the ids under which findings stood of which nothing stands any more."""
    standing = {f.id for f in history.findings if f.standing}
    order = [release.stack for release in history.releases]
    ends: dict[str, set[str]] = defaultdict(set)
    for finding in history.findings:
        if _is_bad(finding) and finding.recovered_by is not None:
            stood = finding.id.removesuffix(f"-until-{finding.recovered_by}")
            ends[stood].add(finding.recovered_by)
    for name, found in ends.items():
        if name not in standing:
            last = max(found, key=order.index)
            yield Cleared(f"{prefix}{name}", f"{last} took it back.")


def _is_bad(finding: HistoryFinding) -> bool:
    return EXIT_CODES[finding.verdict] is ExitCode.REGRESSION


def _alert(history: History, finding: HistoryFinding, prefix: str) -> Alert:
    much = f", {finding.size:.2f}x" if finding.size else ""
    if finding.largest:
        much += f", up to {finding.largest.ratio.estimate:.2f}x"
    what = " and ".join(finding.families)
    cases = counted(len(finding.cases), "case")
    newest = history.releases[-1].stack
    return Alert(
        Signal.REGRESSION,
        f"{prefix}{finding.id}",
        f"{finding.first_bad}: {finding.verdict} of {what} on {history.machine}, {cases}{much}",
        f"{finding.reason} {finding.last_good} was good, {newest} still has it.",
        tuple(_evidence(finding)),
        finding.reproduce,
        (finding.last_good, finding.first_bad),
        f"{history.machine}/findings.html",
    )


def _evidence(finding: HistoryFinding) -> Iterable[str]:
    yield from (f"explained in {note.path}: {note.title}" for note in finding.notes)
    yield f"likely cause: {finding.cause.summary}"
    if finding.largest:
        yield f"largest: {render_ratio(finding.largest.ratio)} {finding.largest.case}"
    for change in finding.cause.evidence:
        yield f"{change.name}: {change.base} -> {change.head}"
    for case in finding.cases[:_SHOWN]:
        yield str(case)
    if len(finding.cases) > _SHOWN:
        yield f"{len(finding.cases) - _SHOWN} more cases"
