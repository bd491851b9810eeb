"""Cases that are lost, run now and then, or run again, release by release."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from regress.errors import UsageError
from regress.model.reason import ReasonCode
from regress.pipeline.history.chain import Chain
from regress.pipeline.history.lines import Ranges
from regress.store.columns import STATUSES
from regress.store.load import load_round
from workloads.record import Case, Status

__all__ = ["Transition", "find_transitions"]

_LOST: Final = {
    Status.SKIPPED: ReasonCode.SKIPPED,
    Status.FAILED: ReasonCode.FAILED,
    Status.QUARANTINED: ReasonCode.QUARANTINED,
}


@dataclass(frozen=True, slots=True)
class Transition:
    """A case that is lost or appears between two releases that planned it.

    Attributes
    ----------
    before, point
        Indices of the releases.
    why
        What the adapter or the error said.
    end
        First later release in which every round has the case again; None if it stays lost.
    """

    case: Case
    before: int
    point: int
    code: ReasonCode
    why: str
    end: int | None


def find_transitions(chain: Chain, ranges: Ranges) -> Iterator[Transition]:
    """Look at every case release by release; only those count whose rounds planned it."""
    for row, case in enumerate(ranges.cases):
        before: int | None = None
        for point in (int(n) for n in ranges.planned[row].nonzero()[0]):
            code = _code(chain, ranges, (row, before, point)) if before is not None else None
            if before is not None and code is not None:
                lost_in = before if code is ReasonCode.APPEARED else point
                end = None if code is ReasonCode.APPEARED else _end(ranges, row, point)
                yield Transition(case, before, point, code, _why(chain, case, lost_in), end)
            before = point


def _code(chain: Chain, ranges: Ranges, at: tuple[int, int, int]) -> ReasonCode | None:
    row, before, point = at
    was, now = int(ranges.measured[row, before]), int(ranges.measured[row, point])
    if not was:
        return ReasonCode.APPEARED if now else None
    if not now:
        return _LOST[_usual_status(chain, list(ranges.cases)[row], point)]
    whole = was == ranges.planned[row, before]
    return ReasonCode.FLAKY if whole and now < ranges.planned[row, point] else None


def _rows(chain: Chain, case: Case, point: int) -> list[tuple[int, Status]]:
    """Return the rounds of a release that lost a case, with what became of it."""
    columns = chain.columns
    column = columns.cases.index(case)
    found: list[tuple[int, Status]] = []
    for row, head in enumerate(columns.heads):
        number = int(columns.status[row, column])
        if head.tag == chain.tags[point] and number >= 0:
            status = STATUSES[number]
            if status is not Status.MEASURED:
                found.append((row, status))
    return found


def _usual_status(chain: Chain, case: Case, point: int) -> Status:
    return Counter(status for _, status in _rows(chain, case, point)).most_common(1)[0][0]


def _why(chain: Chain, case: Case, point: int) -> str:
    """Read the reason from the round file: columns do not hold it."""
    row, status = _rows(chain, case, point)[-1]
    try:
        records = load_round(Path(chain.columns.heads[row].path)).cases
    except UsageError:  # It went away since its columns were read.
        records = ()
    told = next((record.reason for record in records if record.case == case), "")
    return told or f"{status}, no reason given"


def _end(ranges: Ranges, row: int, point: int) -> int | None:
    planned, measured = ranges.planned[row, point + 1 :], ranges.measured[row, point + 1 :]
    back = ((planned > 0) & (measured == planned)).nonzero()[0]
    return point + 1 + int(back[0]) if back.size else None
