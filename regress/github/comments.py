"""The one comment of the gate on a pull request."""

import re
from dataclasses import dataclass
from typing import Final

from github.IssueComment import IssueComment
from github.PullRequest import PullRequest

from regress.github.client import name_of, spoken

__all__ = ["MARKER", "Standing", "load_standing", "post", "written"]

MARKER: Final = "<!-- attention-regress gate -->"
_HEAD: Final = re.compile(re.escape(MARKER) + r"\n<!-- commit: ([0-9a-f]{40}) -->\n")
_VERDICT: Final = "<!-- verdict -->\n"


@dataclass(frozen=True, slots=True)
class Standing:
    """The gate's comments that are there.

    Attributes
    ----------
    newest
        The one that is kept; None if there is none.
    older
        The others, e.g. of a run that was cut off between two requests.
    """

    newest: IssueComment | None
    older: tuple[IssueComment, ...]

    def verdict_on(self, sha: str) -> str | None:
        """Return what the comment says of a commit; None if it speaks of another one."""
        body = self.newest.body if self.newest else ""
        head = _HEAD.match(body)
        _, _, verdict = body.partition(_VERDICT)
        return verdict if head and head[1] == sha and verdict else None


def load_standing(pull: PullRequest, login: str) -> Standing:
    """Return the comments that the gate itself wrote; one of others with its marker is not."""
    with spoken(f"the comments of pull request {pull.number}"):
        ours = [
            comment
            for comment in pull.get_issue_comments()
            if name_of(comment.user) == login and (comment.body or "").startswith(MARKER)
        ]
    ours.sort(key=lambda comment: comment.id)
    return Standing(ours[-1] if ours else None, tuple(ours[:-1]))


def written(sha: str, text: str, above: str = "") -> str:
    """Return the body of a comment about a commit; `above` stands before the verdict's text."""
    return f"{MARKER}\n<!-- commit: {sha} -->\n{above}{_VERDICT}{text}"


def post(pull: PullRequest, standing: Standing, body: str) -> str:
    """Write the comment, in place if there is one, hide older ones, and return its address."""
    with spoken(f"a comment on pull request {pull.number}"):
        comment = standing.newest
        if comment is None:
            comment = pull.create_issue_comment(body)
        elif comment.body != body:
            comment.edit(body)
        for older in standing.older:
            older.minimize("OUTDATED")
        return comment.html_url
