"""Marks of the gate: commit statuses that say which commit it has judged, and how.

A label of GitHub belongs to a pull request and not to a commit. A mark belongs to a commit, only
people who may push can set one, and the server says when: so a label that is younger than a mark
on a commit was given when that commit was known.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from github.Repository import Repository

from regress.errors import ExitCode
from regress.github.client import name_of, spoken
from regress.model.bump import Bump
from regress.model.ending import ACCEPTED_BY

__all__ = ["CONTEXT", "Mark", "Outcome", "digest_of", "load_marks", "outcome_of", "write_mark"]

CONTEXT: Final = "attention-gate"
_LONGEST: Final = 140
_DIGEST: Final = re.compile(r"\[([0-9a-f]{12})\]$")


class Outcome(StrEnum):
    """The states of a commit status, as the gate uses them."""

    WAITING = "pending"
    """A fork's pins wait for somebody to say that they may be measured."""
    PASSED = "success"
    REGRESSED = "failure"
    """Exit code 1: shown worse. Only this can be accepted."""
    UNKNOWN = "error"
    """Nothing was shown: refused, undecided, or data missing."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The gate's word on a commit, and on which pins."""

    outcome: Outcome
    at: datetime
    digest: str


def digest_of(base_pins: Iterable[str], head_pins: Iterable[str]) -> str:
    """Return what stands for a pair of stacks: other pins are not what was judged."""
    text = f"{' '.join(base_pins)} -> {' '.join(head_pins)}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def outcome_of(code: ExitCode) -> Outcome:
    """Return how a verdict is marked."""
    marks = {ExitCode.PASS: Outcome.PASSED, ExitCode.REGRESSION: Outcome.REGRESSED}
    return marks.get(code, Outcome.UNKNOWN)


def load_marks(repository: Repository, sha: str, login: str) -> tuple[Mark, ...]:
    """Return the marks on a commit that `login` set, newest first; others' do not count.

    One that says that a verdict was accepted is left out: it is no verdict itself.
    """
    with spoken(f"the statuses of {sha}"):
        return tuple(
            Mark(Outcome(status.state), status.created_at, found[1])
            for status in repository.get_commit(sha).get_statuses()
            if status.context == CONTEXT
            and name_of(status.creator) == login
            and not (status.description or "").startswith(ACCEPTED_BY)
            and (found := _DIGEST.search(status.description or ""))
        )


def write_mark(
    repository: Repository, bump: Bump, outcome: Outcome, told: str, run_url: str
) -> None:
    """Mark the head of a pull request."""
    digest = f" [{digest_of(bump.base_pins, bump.head_pins)}]"
    description = told[: _LONGEST - len(digest)] + digest
    with spoken(f"a status on {bump.head_sha}"):
        repository.get_commit(bump.head_sha).create_status(
            outcome.value, target_url=run_url, description=description, context=CONTEXT
        )
