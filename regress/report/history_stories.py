"""Findings as they are told: those of one step whose causes read the same are one story."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import log
from typing import Final

from regress.counted import counted, ranged
from regress.model.history import Explained, Extreme, History, HistoryFinding, Kind
from regress.model.verdict import Verdict
from workloads.record import Case

__all__ = ["WORSE", "Story", "headline_of", "sources_of", "stories_of"]

WORSE: Final = (Verdict.REGRESSION, Verdict.GONE, Verdict.BROKEN)
_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Story:
    """Findings that share step, metric, verdict, end and what is said of their cause.

    Attributes
    ----------
    findings
        At least one, in the order of the history.
    ratios
        Head over base of its cells, sorted; empty for cases that were lost or appeared.
    """

    findings: tuple[HistoryFinding, ...]
    ratios: tuple[float, ...]

    @property
    def lead(self) -> HistoryFinding:
        """The finding with the largest change."""
        return max(self.findings, key=lambda finding: _reach(finding.largest))

    @property
    def newest(self) -> Extreme | None:
        """The case that differs most between the last release without it and the newest."""
        return max((f.newest for f in self.findings), key=_reach, default=None)

    @property
    def cases(self) -> tuple[Case, ...]:
        """Every case that is affected."""
        return tuple(case for finding in self.findings for case in finding.cases)

    @property
    def families(self) -> tuple[str, ...]:
        """Families of those cases."""
        return tuple(dict.fromkeys(f for finding in self.findings for f in finding.families))

    @property
    def notes(self) -> tuple[Explained, ...]:
        """Triage notes that explain it."""
        return tuple(dict.fromkeys(note for finding in self.findings for note in finding.notes))

    @property
    def worse(self) -> bool:
        """Whether something got slower or was lost."""
        return self.lead.verdict in WORSE

    @property
    def reason(self) -> str:
        """What changed, in a few words."""
        if len(self.findings) == 1 or not self.ratios:
            return self.lead.reason
        word = "slower" if self.worse else "faster"
        extent = ranged(self.ratios[0], self.ratios[-1])
        return f"{counted(len(self.cases), 'case')} {word}: {extent} the time"

    @property
    def reach(self) -> float:
        """How far it reaches: the number of its cells times the logarithm of their median ratio."""
        return sum(len(f.cases) * abs(log(f.size or 1)) for f in self.findings)


def stories_of(told: History, findings: Iterable[HistoryFinding]) -> tuple[Story, ...]:
    """Return the stories of some findings of a history, in order of their first finding."""
    groups: dict[tuple[object, ...], list[HistoryFinding]] = defaultdict(list)
    for finding in findings:
        groups[_key(finding)].append(finding)
    ratios = {
        (s.series.metric, s.series.case, s.first_bad, s.verdict): s.ratio.estimate
        for s in told.steps
    }

    def of(finding: HistoryFinding) -> Iterator[float]:
        keys = ((finding.metric, c, finding.first_bad, finding.verdict) for c in finding.cases)
        return (ratios[key] for key in keys if key in ratios)

    return tuple(
        Story(tuple(group), tuple(sorted(ratio for finding in group for ratio in of(finding))))
        for group in groups.values()
    )


def _key(finding: HistoryFinding) -> tuple[object, ...]:
    if finding.kind is not Kind.STEP:
        return (finding.id,)
    where = finding.last_good, finding.first_bad, finding.recovered_by, finding.standing
    return finding.metric, finding.verdict, *where, headline_of(finding)


def headline_of(finding: HistoryFinding) -> str:
    """Return the cause without the sources that differ."""
    return finding.cause.summary.partition("; ")[0]


def sources_of(finding: HistoryFinding) -> str:
    """Return how many sources differ, and the names of those of the affected path."""
    files = finding.cause.files
    if not files:
        return finding.cause.summary.partition("; ")[2]
    names = dict.fromkeys(file.path.rpartition("/")[2] for file in files[:_MOST_NAMED])
    most = ", first " if len(files) > len(names) else ": "
    return f"{counted(len(files), 'source')} of attention differ{most}{', '.join(names)}"


def _reach(extreme: Extreme | None) -> float:
    return abs(log(extreme.ratio.estimate)) if extreme else 0.0
