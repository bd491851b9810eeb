"""What a comparison amounts to: counts, the largest change, what changed."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log
from typing import Final

from regress.model.verdict import WORST_FIRST, Verdict, join
from regress.site.pairs import CellOutcome
from regress.site.subject import Subject
from workloads.record import Case

__all__ = ["DECIDED", "AgainstBest", "Summary", "against_best", "summary"]

DECIDED: Final = (Verdict.REGRESSION, Verdict.IMPROVEMENT)
"""Verdicts about times that were shown to differ."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A comparison in one line.

    Attributes
    ----------
    counts
        (verdict, cells), worst first, without zeros.
    slowest, fastest
        The shown changes with the largest and the smallest ratio, each with it; None without.
    """

    verdict: Verdict
    cells: int
    counts: tuple[tuple[Verdict, int], ...]
    slowest: tuple[Case, float] | None
    fastest: tuple[Case, float] | None

    @property
    def largest(self) -> tuple[Case, float] | None:
        """The shown change that is furthest from 1."""
        shown = [change for change in (self.slowest, self.fastest) if change]
        return max(shown, key=lambda change: abs(log(change[1])), default=None)


def summary(cells: Mapping[Case, CellOutcome]) -> Summary | None:
    """Sum up a comparison; None if nothing was compared."""
    if not cells:
        return None
    counts = Counter(cell.verdict for cell in cells.values())
    shown = list(_shown(cells.items()))
    slower = [change for change in shown if change[1] > 1]
    faster = [change for change in shown if change[1] < 1]
    return Summary(
        verdict=join(counts),
        cells=len(cells),
        counts=tuple((verdict, counts[verdict]) for verdict in WORST_FIRST if counts[verdict]),
        slowest=max(slower, key=lambda change: change[1], default=None),
        fastest=min(faster, key=lambda change: change[1], default=None),
    )


def _shown(cells: Iterable[tuple[Case, CellOutcome]]) -> Iterable[tuple[Case, float]]:
    for case, cell in cells:
        if cell.verdict in DECIDED and cell.ratio is not None:
            yield case, cell.ratio


@dataclass(frozen=True, slots=True)
class AgainstBest:
    """A stack against the fastest earlier one of each cell.

    Attributes
    ----------
    best
        Tag of the fastest earlier stack, by case.
    """

    best: Mapping[Case, str]
    cells: Mapping[Case, CellOutcome]


def against_best(subject: Subject, tag: str) -> AgainstBest:
    """Return what is said of each cell against its fastest earlier stack."""
    step = subject.step(tag)
    found = {case: subject.best_before(tag, case) for case in (step.cells if step else ())}
    known = {case: told for case, told in found.items() if told}
    return AgainstBest(
        best={case: name for case, (name, _) in known.items()},
        cells={case: outcome for case, (_, outcome) in known.items()},
    )
