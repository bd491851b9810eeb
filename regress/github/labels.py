"""Labels with consequences: who set one, whether they may, and for which commit it counts."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from github import UnknownObjectException
from github.PullRequest import PullRequest
from github.Repository import Repository

from regress.github.client import name_of, spoken
from regress.github.marks import Mark, Outcome
from regress.model.bump import ACCEPT_LABEL, RUN_LABEL, Given

__all__ = ["ACCEPT", "AUTHORISE", "Right", "Setting", "judge_label", "load_setting"]


@dataclass(frozen=True, slots=True)
class Right:
    """What a label does.

    Attributes
    ----------
    label
        Its name.
    roles
        Who may use it.
    after
        Marks that a commit must have before the label counts for it.
    needs
        What must have happened before, in words.
    """

    label: str
    roles: tuple[str, ...]
    after: frozenset[Outcome]
    needs: str


AUTHORISE: Final = Right(
    RUN_LABEL,
    ("admin", "maintain", "write"),
    frozenset(Outcome),
    "the gate had looked at this commit",
)
"""Lets the pins of a fork be measured; who may push can have them measured anyway."""
ACCEPT: Final = Right(
    ACCEPT_LABEL,
    ("admin", "maintain"),
    frozenset({Outcome.REGRESSED}),
    "the gate had found this commit to be a regression",
)
"""Accepts what was found to be worse."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The last time a label was set: by whom (empty: a deleted user), in which role, and when."""

    login: str
    role: str
    at: datetime


def load_setting(repository: Repository, pull: PullRequest, right: Right) -> Setting | None:
    """Return who set a label that the pull request has; None if it has not."""
    if right.label not in {label.name for label in pull.labels}:
        return None
    with spoken(f"the events of pull request {pull.number}"):
        events = [
            event
            for event in pull.get_issue_events()
            if event.event == "labeled" and event.label.name == right.label
        ]
    if not events:
        return None
    last = max(events, key=lambda event: event.created_at)
    login = name_of(last.actor)
    return Setting(login, _role(repository, login) if login else "none", last.created_at)


def _role(repository: Repository, login: str) -> str:
    """Return admin, maintain, write, read or none; a custom role is what it is built on."""
    with spoken(f"the role of {login}"):
        try:
            base = repository.get_collaborator_permission(login)
            named = repository.get_collaborator_role_name(login)
        except UnknownObjectException:
            return "none"
    return "maintain" if (base, named) == ("write", "maintain") else base


def judge_label(
    right: Right, setting: Setting | None, marks: Iterable[Mark], digest: str, sha: str
) -> tuple[Given | None, str | None]:
    """Return the label if it counts for a commit, or why it does not.

    It counts if somebody in the right role set it after the gate had marked this very commit,
    with these pins: a commit that is pushed later has no mark that is older than the label.
    """
    if setting is None:
        return None, None
    who = setting.login or "a deleted user"
    if setting.role not in right.roles:
        may = " or ".join(right.roles)
        told = f"{who} has the role {setting.role}, and {may} is needed"
        return None, f"the label {right.label} does not count: {told}"
    before = [mark for mark in marks if mark.digest == digest and mark.at < setting.at]
    newest = max(before, key=lambda mark: mark.at, default=None)
    if newest is None or newest.outcome not in right.after:
        told = f"{who} set it before {right.needs}; to mean this commit, set it again"
        return None, f"the label {right.label} does not count: {told}"
    at = setting.at.isoformat(timespec="seconds")
    return Given(right.label, setting.login, setting.role, at, sha), None
