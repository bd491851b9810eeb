"""A pull request, read through the API: what it does to pins, and what follows from that."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from github import Github
from github.PullRequest import PullRequest
from github.Repository import Repository

from regress.errors import UsageError
from regress.github.client import login_of, spoken
from regress.github.labels import ACCEPT, AUTHORISE, judge_label, load_setting
from regress.github.marks import digest_of, load_marks
from regress.github.tree import Blob, UnreadableError, changed, load_blobs, load_text
from regress.model.bump import BUMP_SCHEMA, Bump, BumpCode, BumpReason, State
from regress.pins.compare import Compared, Files, compare, moved
from regress.pins.files import GLOBS, parse_pins
from regress.pins.pattern import Pattern
from regress.pins.pin import PinFileError

__all__ = ["Ask", "load_bump"]

_SHA: Final = re.compile(r"[0-9a-f]{40}")
_REFUSED: Final = (BumpCode.BAD_VERSION, BumpCode.CONFLICT, BumpCode.UNREADABLE)


@dataclass(frozen=True, slots=True)
class Ask:
    """Which pull request, and where its pins are.

    Attributes
    ----------
    repository, pull
        `owner/name` and number.
    head
        The commit that the event speaks of; the pull request's current one if None.
    login
        Who sets the gate's marks; whose token it is if None.
    """

    repository: str
    pull: int
    head: str | None = None
    globs: Sequence[str] = GLOBS
    patterns: Sequence[Pattern] = ()
    login: str | None = None

    def __post_init__(self) -> None:
        if self.head is not None and not _SHA.fullmatch(self.head):
            msg = f"--head {self.head}: give a commit as 40 hexadecimal digits"
            raise UsageError(msg)
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", self.repository, re.ASCII):
            msg = f"--repository {self.repository}: give OWNER/NAME"
            raise UsageError(msg)


def load_bump(github: Github, ask: Ask) -> Bump:
    """Read a pull request and say what follows; nothing of it is executed.

    Raises
    ------
    RegressError
        If GitHub refuses or cannot answer.
    """
    with spoken(f"pull request {ask.pull} of {ask.repository}"):
        repository = github.get_repo(ask.repository)
        pull = repository.get_pull(ask.pull)
        head, base = ask.head or pull.head.sha, pull.base.sha
        stop = _set_aside(pull, head)
        reason = stop or _FOUND
        bump = Bump(BUMP_SCHEMA, ask.repository, ask.pull, base, head, State.SKIPPED, reason)
    if stop:
        return bump
    with spoken(f"where {head} left the base branch"):
        base = repository.compare(base, head).merge_base_commit.sha
    compared = _compared(repository, base, head, ask)
    bump = msgspec.structs.replace(
        bump,
        base_sha=base,
        state=_state(compared),
        reason=compared.stop or _FOUND,
        changes=compared.changes,
        base_pins=compared.base_pins,
        head_pins=compared.head_pins,
        notes=compared.notes,
    )
    if compared.stop:
        return bump
    return _with_labels(bump, repository, pull, ask.login or login_of(github))


_FOUND: Final = BumpReason(BumpCode.CHANGED, "pins of measured libraries changed")


def _set_aside(pull: PullRequest, head: str) -> BumpReason | None:
    """Return why a pull request is not looked at."""
    if pull.state != "open":
        return BumpReason(BumpCode.CLOSED, "the pull request is closed")
    if pull.draft:
        return BumpReason(BumpCode.DRAFT, "a draft: the gate runs when it is ready for review")
    if pull.head.sha != head:
        told = f"{head[:12]} is no longer the head: the run for {pull.head.sha[:12]} judges"
        return BumpReason(BumpCode.SUPERSEDED, told)
    return None


def _state(compared: Compared) -> State:
    if compared.stop is None:
        return State.MEASURE
    if compared.stop.code is BumpCode.UNCHANGED:
        return State.UNCHANGED
    return State.REFUSED if compared.stop.code in _REFUSED else State.SKIPPED


def _compared(repository: Repository, base: str, head: str, ask: Ask) -> Compared:
    """Compare pins; files that are alike on both sides are read only if pins changed at all."""
    try:
        sides = [load_blobs(repository, commit, ask.globs) for commit in (base, head)]
        touched = changed(*sides)
        before, after = [_read(repository, side, touched, ask.patterns) for side in sides]
        if not moved(before, after):
            return compare({}, {})
        rest = _read(repository, sides[1], sides[1].keys() - touched, ask.patterns)
    except UnreadableError as error:
        return Compared(BumpReason(BumpCode.UNREADABLE, str(error)))
    return compare({**rest, **before}, {**rest, **after})


def _read(
    repository: Repository,
    blobs: Mapping[str, Blob],
    paths: frozenset[str] | set[str],
    patterns: Sequence[Pattern],
) -> Files:
    files = {}
    for path in sorted(paths & blobs.keys()):
        text = load_text(repository, path, blobs[path])
        try:
            files[path] = parse_pins(text, path, patterns)
        except PinFileError as error:
            msg = f"{path} {error}"
            raise UnreadableError(msg) from error
    return files


def _with_labels(bump: Bump, repository: Repository, pull: PullRequest, login: str) -> Bump:
    """Return what labels make of pins that can be measured."""
    marks = load_marks(repository, bump.head_sha, login)
    digest = digest_of(bump.base_pins, bump.head_pins)
    given, notes = {}, list(bump.notes)
    for right in (ACCEPT, AUTHORISE):
        setting = load_setting(repository, pull, right)
        given[right], note = judge_label(right, setting, marks, digest, bump.head_sha)
        notes += [note] if note else []
    accepted, authorised = given[ACCEPT], given[AUTHORISE]
    bump = msgspec.structs.replace(
        bump, accepted=accepted, authorised=authorised, notes=tuple(notes)
    )
    if accepted:
        told = f"{accepted.login} ({accepted.role}) accepts what this commit makes worse"
        reason = BumpReason(BumpCode.ACCEPTED, told)
        return msgspec.structs.replace(bump, state=State.ACCEPTED, reason=reason)
    if _is_fork(pull, bump.repository) and not authorised:
        told = f"from a fork: somebody who may push sets the label {AUTHORISE.label}"
        reason = BumpReason(BumpCode.NEEDS_LABEL, f"{told}, which counts for this commit")
        return msgspec.structs.replace(bump, state=State.SKIPPED, reason=reason)
    return bump


def _is_fork(pull: PullRequest, repository: str) -> bool:
    """Whether the head is not this repository's own; that of a deleted fork is not either."""
    with spoken("the head's repository"):
        owner: Repository | None = pull.head.repo
        return owner is None or owner.full_name.lower() != repository.lower()
