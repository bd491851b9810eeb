"""What a triage note says of itself: which findings of the history it explains."""

import re
from collections.abc import Sequence

import msgspec

from regress.model.finding import Metric
from regress.model.history import Explained, HistoryFinding
from regress.model.verdict import Verdict

__all__ = ["Change", "Note", "notes_of"]


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change that a note explains.

    Findings are matched by range, not by the pair of releases that they name: which two releases
    those are depends on what has been measured.

    Attributes
    ----------
    after, by
        Tags between which the cause came in, as narrow as sources or rounds tell: not yet in
        `after`, in `by`.
    verdicts
        Verdicts of the findings, e.g. REGRESSION; GONE and NEW for cases that do not run.
    cases
        Regular expression for `workload@backend`. It has to fit every case of a finding.
    metric
        What changed.
    up_to
        Largest change that is explained, as a factor either way, e.g. 1.03; null for any. A larger
        one wants a note of its own.
    """

    after: str
    by: str
    verdicts: tuple[Verdict, ...]
    cases: str
    metric: Metric = Metric.KERNEL_TIME
    up_to: float | None = None

    def explains(self, finding: HistoryFinding, order: Sequence[str]) -> bool:
        """Return whether a finding is this change; `order` has the tags of releases by time."""
        told = (finding.last_good, finding.first_bad, self.after, self.by)
        if not {*told} <= {*order}:
            return False
        last_good, first_bad, after, by = map(order.index, told)
        return (
            last_good < by
            and after < first_bad
            and finding.verdict in self.verdicts
            and finding.metric is self.metric
            and self._small_enough(finding)
            and all(re.search(self.cases, str(case)) for case in finding.cases)
        )

    def _small_enough(self, finding: HistoryFinding) -> bool:
        if self.up_to is None or finding.largest is None:
            return True
        size = finding.largest.ratio.estimate
        return max(size, 1 / size) <= self.up_to


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The head of a page that explains one cause.

    Attributes
    ----------
    title
        The cause in a few words.
    change
        What it explains.
    path
        The page, inside the checkout; not in the head.
    """

    title: str
    change: tuple[Change, ...]
    path: str = ""


def notes_of(
    finding: HistoryFinding, notes: Sequence[Note], order: Sequence[str]
) -> tuple[Explained, ...]:
    """Return all pages that explain a finding."""
    return tuple(
        Explained(note.path, note.title)
        for note in notes
        if any(one.explains(finding, order) for one in note.change)
    )
