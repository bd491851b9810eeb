"""Telling a pull request how its gate ended: the comment and the mark on its commit."""

from dataclasses import dataclass
from typing import Final

from github import Github
from github.PullRequest import PullRequest

from regress.github.client import login_of, spoken
from regress.github.comments import Standing, load_standing, post, written
from regress.github.marks import Outcome, outcome_of, write_mark
from regress.model.bump import Bump
from regress.model.ending import Ending, Settled

__all__ = ["Word", "tell"]

_IF_THERE: Final = (Ending.UNCHANGED,)
"""Said only where the gate has spoken before."""


@dataclass(frozen=True, slots=True)
class Word:
    """What is to be said.

    Attributes
    ----------
    headline
        One line for the mark.
    text
        The comment's Markdown.
    run_url
        The run that says it.
    login
        Who posts as the gate; whose token it is if None.
    """

    headline: str
    text: str
    run_url: str
    login: str | None = None


def tell(github: Github, bump: Bump, settled: Settled, word: Word) -> str:
    """Mark the commit, write the comment, and return a line on what was done.

    The comment comes first: a label counts only if it is younger than the mark, so whoever set it
    could read the comment. A commit that is no longer the head gets a mark and no comment.
    """
    if settled.ending is Ending.SET_ASIDE:
        return "nothing is posted"
    with spoken(f"pull request {bump.pull} of {bump.repository}"):
        repository = github.get_repo(bump.repository)
        pull = repository.get_pull(bump.pull)
        current = pull.head.sha == bump.head_sha
    done = f"no comment: {bump.head_sha[:12]} is no longer the head"
    if current:
        standing = load_standing(pull, word.login or login_of(github))
        done = _comment(pull, bump, settled, word, standing)
    outcome = Outcome.WAITING if settled.ending is Ending.WAITING else outcome_of(settled.code)
    write_mark(repository, bump, outcome, word.headline, word.run_url)
    return done


def _comment(
    pull: PullRequest, bump: Bump, settled: Settled, word: Word, standing: Standing
) -> str:
    if settled.ending in _IF_THERE and standing.newest is None:
        return "no comment: there is nothing to say"
    body = written(bump.head_sha, word.text)
    if settled.ending is Ending.ACCEPTED:
        verdict = standing.verdict_on(bump.head_sha) or "The comment with the verdict is gone.\n"
        body = written(bump.head_sha, verdict, above=word.text)
    return f"commented: {post(pull, standing, body)}"
