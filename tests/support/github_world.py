"""What a made-up GitHub holds, and how its API would show it; `github_api` serves it."""

from datetime import UTC, datetime
from hashlib import sha1
from typing import Any

import msgspec

__all__ = ["Comment", "Event", "Fault", "Issue", "Pull", "Repository", "Status", "World"]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Pull(msgspec.Struct):
    """A pull request; `head_repo` names the fork it comes from, empty: the fork was deleted."""

    number: int
    base_sha: str
    head_sha: str
    head_repo: str | None = None
    base_ref: str = "main"
    head_ref: str = "bump"
    state: str = "open"
    draft: bool = False
    title: str = "Update a dependency"
    author: str = "author"
    labels: list[str] = []
    merge_base: str | None = None


class Issue(msgspec.Struct):
    """An issue."""

    number: int
    title: str
    body: str = ""
    state: str = "open"
    labels: list[str] = []
    login: str = "gate[bot]"
    created_at: str = msgspec.field(default_factory=_now)
    state_reason: str | None = None


class Comment(msgspec.Struct):
    """A comment on an issue or a pull request."""

    id: int
    issue: int
    body: str
    login: str = "gate[bot]"
    minimized: bool = False
    created_at: str = msgspec.field(default_factory=_now)


class Event(msgspec.Struct):
    """An event of an issue, e.g. `labeled`; an empty actor is a deleted user."""

    event: str
    actor: str
    label: str
    created_at: str = msgspec.field(default_factory=_now)


class Status(msgspec.Struct):
    """A commit's status."""

    sha: str
    state: str
    context: str = "default"
    description: str = ""
    target_url: str = ""
    login: str = "gate[bot]"
    created_at: str = msgspec.field(default_factory=_now)


class Repository(msgspec.Struct):
    """A repository.

    Attributes
    ----------
    trees
        Files of each commit: path to text, or to `{"base64": …}`, `{"submodule": SHA}`,
        `{"symlink": target}`, `{"size": claimed bytes}`.
    truncated
        Commits whose tree the API does not show whole.
    events
        By number of the issue, as text.
    permissions
        Role by login: admin, maintain, write, triage, read.
    """

    trees: dict[str, dict[str, str | dict[str, Any]]] = {}
    truncated: list[str] = []
    pulls: list[Pull] = []
    issues: list[Issue] = []
    comments: list[Comment] = []
    events: dict[str, list[Event]] = {}
    permissions: dict[str, str] = {}
    statuses: list[Status] = []
    labels: list[str] = []
    alerts: list[dict[str, Any]] = []
    default_branch: str = "main"

    def pull(self, number: int) -> Pull:
        return next(p for p in self.pulls if p.number == number)

    def issue(self, number: int) -> Issue:
        """Return an issue; a pull request is one too."""
        for issue in self.issues:
            if issue.number == number:
                return issue
        pull = self.pull(number)
        return Issue(number, pull.title, "", pull.state, pull.labels, pull.author)


class Fault(msgspec.Struct):
    """What goes wrong the next `times` times that a request fits."""

    path: str
    """Regular expression, searched in the path."""
    status: int = 502
    times: int = 1
    method: str = ""
    headers: dict[str, str] = {}
    message: str = "Server Error"


class World(msgspec.Struct):
    """All of it; `login` is whom the token belongs to."""

    repositories: dict[str, Repository]
    login: str = "gate[bot]"
    faults: list[Fault] = []


def user(login: str) -> dict[str, Any] | None:
    if not login:
        return None
    kind = "Bot" if login.endswith("[bot]") else "User"
    return {"login": login, "id": number_of(login), "type": kind}


def number_of(text: str) -> int:
    return int(sha1(text.encode(), usedforsecurity=False).hexdigest()[:7], 16)


def blob_sha(content: str | dict[str, Any]) -> str:
    return sha1(msgspec.json.encode(content), usedforsecurity=False).hexdigest()


def repository_json(base: str, name: str, default_branch: str = "main") -> dict[str, Any]:
    owner, _, short = name.partition("/")
    return {
        "id": number_of(name),
        "name": short,
        "full_name": name,
        "owner": user(owner),
        "fork": False,
        "default_branch": default_branch,
        "url": f"{base}/repos/{name}",
    }


def pull_json(base: str, name: str, pull: Pull) -> dict[str, Any]:
    url = f"{base}/repos/{name}"
    fork = name if pull.head_repo is None else pull.head_repo
    return {
        "number": pull.number,
        "state": pull.state,
        "draft": pull.draft,
        "title": pull.title,
        "user": user(pull.author),
        "url": f"{url}/pulls/{pull.number}",
        "issue_url": f"{url}/issues/{pull.number}",
        "comments_url": f"{url}/issues/{pull.number}/comments",
        "labels": [{"name": label} for label in pull.labels],
        "base": {"sha": pull.base_sha, "ref": pull.base_ref, "repo": repository_json(base, name)},
        "head": {
            "sha": pull.head_sha,
            "ref": pull.head_ref,
            "repo": repository_json(base, fork) if fork else None,
        },
    }


def issue_json(base: str, name: str, issue: Issue) -> dict[str, Any]:
    url = f"{base}/repos/{name}/issues/{issue.number}"
    return {
        "number": issue.number,
        "id": issue.number,
        "title": issue.title,
        "body": issue.body,
        "state": issue.state,
        "state_reason": issue.state_reason,
        "labels": [{"name": label} for label in issue.labels],
        "user": user(issue.login),
        "created_at": issue.created_at,
        "url": url,
        "comments_url": f"{url}/comments",
        "html_url": f"https://github.test/{name}/issues/{issue.number}",
    }


def comment_json(base: str, name: str, comment: Comment) -> dict[str, Any]:
    return {
        "id": comment.id,
        "node_id": f"IC_{comment.id}",
        "body": comment.body,
        "user": user(comment.login),
        "created_at": comment.created_at,
        "updated_at": comment.created_at,
        "url": f"{base}/repos/{name}/issues/comments/{comment.id}",
        "html_url": f"https://github.test/{name}/pull/{comment.issue}#issuecomment-{comment.id}",
    }


def event_json(event: Event) -> dict[str, Any]:
    return {
        "id": number_of(event.created_at + event.label),
        "event": event.event,
        "actor": user(event.actor),
        "label": {"name": event.label, "color": "ededed"},
        "commit_id": None,
        "created_at": event.created_at,
    }


def status_json(base: str, name: str, status: Status) -> dict[str, Any]:
    return {
        "id": number_of(status.created_at + status.state),
        "state": status.state,
        "context": status.context,
        "description": status.description,
        "target_url": status.target_url,
        "creator": user(status.login),
        "created_at": status.created_at,
        "url": f"{base}/repos/{name}/statuses/{status.sha}",
    }


def tree_entry(path: str, content: str | dict[str, Any]) -> dict[str, Any]:
    mode, kind, size = "100644", "blob", len(content)
    if isinstance(content, dict):
        size = content.get("size", 1)
        if "submodule" in content:
            mode, kind = "160000", "commit"
        if "symlink" in content:
            mode = "120000"
    return {"path": path, "mode": mode, "type": kind, "sha": blob_sha(content), "size": size}
