"""Alerts as issues of a repository: opened, refreshed, closed and opened again.

Only issues that the token's own login opened, and that remember an alert, are ever touched.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from github.Issue import Issue
from github.Repository import Repository

from regress.github.client import name_of, spoken
from regress.model.alert import Alert, Assessment, Cleared, Memory, State
from regress.report.alert_markdown import (
    Links,
    parse_memory,
    remember,
    render_closed,
    render_issue,
    render_title,
)
from regress.report.markdown import escaped
from regress.report.printable import escape

__all__ = ["LABEL", "Known", "Night", "Told", "load_known", "sync"]

LABEL: Final = "attention-alert"
"""On every issue, beside one for its signal: it is how they are found again."""
_OPEN: Final = "open"
_MUTED: Final = "not_planned"


@dataclass(frozen=True, slots=True)
class Known:
    """An issue that remembers an alert."""

    issue: Issue
    memory: Memory

    @property
    def is_open(self) -> bool:
        """Whether it stands."""
        return self.issue.state == _OPEN

    @property
    def is_muted(self) -> bool:
        """Whether somebody closed it as not planned: it is not opened again."""
        return not self.is_open and self.issue.state_reason == _MUTED


@dataclass(frozen=True, slots=True)
class Night:
    """When and where an assessment was made.

    Attributes
    ----------
    began
        ISO 8601, UTC: since when an alert that is new tonight stands.
    """

    began: str
    links: Links
    dry_run: bool = False

    @property
    def day(self) -> str:
        """The day of it, ISO 8601."""
        return self.began[:10]


@dataclass(frozen=True, slots=True)
class Told:
    """What was done, a line an issue, and which alerts are muted."""

    lines: tuple[str, ...]
    muted: frozenset[str]


def load_known(repository: Repository, login: str) -> tuple[Known, ...]:
    """Return the issues that `login` opened for alerts, oldest first.

    Raises
    ------
    UsageError, NoDataError
        If GitHub refuses or does not answer.
    """
    with spoken("the issues of alerts"):
        labelled = repository.get_issues(state="all", labels=[LABEL])
        return tuple(
            Known(issue, memory)
            for issue in sorted(labelled, key=attrgetter("number"))
            if name_of(issue.user) == login and (memory := parse_memory(issue.body))
        )


def sync(repository: Repository, known: tuple[Known, ...], found: Assessment, night: Night) -> Told:
    """Make the issues say what the night showed; what it did not show stays as it is.

    Raises
    ------
    UsageError, NoDataError
        If GitHub refuses or does not answer; what was done before stays done, and to do the same
        again does nothing twice.
    """
    lines: list[str] = []
    muted = set()
    for alert in found.alerts:
        ours = _of(known, alert.key)
        if ours and ours.is_muted:
            muted.add(alert.key)
            lines.append(f"muted #{ours.issue.number}: {alert.title}")
            continue
        lines.append(_raise(repository, ours, alert, night))
    raised = {alert.key for alert in found.alerts}
    for one in known:
        if one.is_open:
            lines += _settle(known, one, raised, found.cleared, night)
    return Told(tuple(lines), frozenset(muted))


def _of(known: tuple[Known, ...], key: str) -> Known | None:
    """Return the issue of a key: the open one if there is one, of several the oldest."""
    fitting = [one for one in known if one.memory.key == key]
    return next((one for one in fitting if one.is_open), fitting[0] if fitting else None)


def _raise(repository: Repository, ours: Known | None, alert: Alert, night: Night) -> str:
    state = State(night.day, alert.title, night.links.run)
    back = ours is not None and not ours.is_open
    memory = remember(alert, ours.memory if ours else None, state, night.began, anew=back)
    title, body = render_title(alert, memory), render_issue(alert, memory, night.links)
    if ours is None:
        number = "?"
        if not night.dry_run:
            with spoken("a new issue"):
                labels = [LABEL, f"attention-{alert.signal}"]
                number = str(repository.create_issue(title, body, labels=labels).number)
        return f"opened #{number}: {title}"
    if not night.dry_run:
        with spoken(f"issue {ours.issue.number}"):
            if back or (ours.issue.title, ours.issue.body) != (title, body):
                ours.issue.edit(title=title, body=body, state=_OPEN)
            if back:
                ours.issue.create_comment(f"It is back: {escaped(escape(alert.verdict))}")
    return f"{'opened again' if back else 'refreshed'} #{ours.issue.number}: {title}"


def _settle(
    known: tuple[Known, ...],
    one: Known,
    raised: set[str],
    cleared: tuple[Cleared, ...],
    night: Night,
) -> Iterator[str]:
    """Close an open issue if it is over or a copy; say so if nothing is known of it tonight."""
    first = _of(known, one.memory.key)
    if first is not one and first is not None:
        told = f"The same as #{first.issue.number}."
        yield _close(one, told, told, night)
    elif one.memory.key not in raised:
        proofs = [c.told for c in cleared if c.covers(one.memory.key, one.memory.stacks)]
        if proofs:
            told = f"Over since {night.day}: {proofs[0]}"
            yield _close(one, told, escaped(escape(told)), night)
        else:
            yield f"stands #{one.issue.number}, nothing new is known: {one.issue.title}"


def _close(one: Known, told: str, comment: str, night: Night) -> str:
    if not night.dry_run:
        state = State(night.day, told, night.links.run)
        with spoken(f"issue {one.issue.number}"):
            body = render_closed(one.issue.body, one.memory, state)
            one.issue.edit(body=body, state="closed", state_reason="completed")
            one.issue.create_comment(comment)
    return f"closed #{one.issue.number}: {told}"
