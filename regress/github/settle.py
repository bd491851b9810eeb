"""Deciding how a run of the gate ended: pure, before anything is written or posted."""

from typing import Final

from regress.errors import ExitCode, worst
from regress.model.bump import Bump, BumpCode, State
from regress.model.ending import Ending, Measured, Settled

__all__ = ["settle"]

_BY_CODE: Final = {
    BumpCode.CLOSED: Ending.SET_ASIDE,
    BumpCode.DRAFT: Ending.SET_ASIDE,
    BumpCode.SUPERSEDED: Ending.SET_ASIDE,
    BumpCode.NEEDS_LABEL: Ending.WAITING,
    BumpCode.INEXACT: Ending.NOT_GATED,
    BumpCode.ONE_SIDED: Ending.NOT_GATED,
}


def settle(bump: Bump, measured: Measured) -> Settled:
    """Return how it ended. Without a report nothing was judged, and that is never a pass."""
    if bump.state is State.MEASURE:
        return _measured(measured)
    if bump.state is State.REFUSED:
        return Settled(Ending.REFUSED, ExitCode.USAGE)
    simple = {State.UNCHANGED: Ending.UNCHANGED, State.ACCEPTED: Ending.ACCEPTED}
    ending = simple.get(bump.state) or _BY_CODE[bump.reason.code]
    return Settled(ending, ExitCode.PASS)


def _measured(measured: Measured) -> Settled:
    report = measured.report
    if report:
        # What it says of the whole must not be better than what it says of a case or a finding.
        codes = [report.exit_code, *(report.code_of(cell.verdict) for cell in report.cells)]
        codes += [report.code_of(finding.verdict) for finding in report.findings if finding.gates]
        codes += [measured.code] if measured.code else []
        codes += [] if report.cells else [ExitCode.NO_DATA]
        return Settled(Ending.JUDGED, worst(codes))
    if measured.code is ExitCode.USAGE:
        return Settled(Ending.STOPPED, ExitCode.USAGE)
    return Settled(Ending.LOST, ExitCode.NO_DATA)
