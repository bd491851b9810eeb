"""What each endpoint of the loopback API does to the world; `github_api` serves them."""

import base64
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import unquote

from tests.support import github_world as w

__all__ = ["ROUTES", "Asked", "Reply", "missing"]


class Reply(Exception):  # noqa: N818 - it ends a route early, and is seldom an error
    """An answer other than 200."""

    def __init__(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers or {}


class Asked(NamedTuple):
    """What a route sees."""

    repo: w.Repository
    name: str
    base: str
    parts: tuple[str, ...]
    query: dict[str, str]
    body: Any
    login: str


def missing() -> Reply:
    return Reply(404, {"message": "Not Found"})


def _repository(a: Asked) -> Any:
    return w.repository_json(a.base, a.name, a.repo.default_branch)


def _pulls(a: Asked) -> Any:
    state = a.query.get("state", "open")
    found = [p for p in a.repo.pulls if state in {"all", p.state}]
    return [w.pull_json(a.base, a.name, p) for p in found]


def _pull(a: Asked) -> Any:
    return w.pull_json(a.base, a.name, a.repo.pull(int(a.parts[0])))


def _changed(a: Asked) -> Any:
    pull = a.repo.pull(int(a.parts[0]))
    before = a.repo.trees[pull.merge_base or pull.base_sha]
    after = a.repo.trees[pull.head_sha]
    names = sorted(p for p in {*before, *after} if before.get(p) != after.get(p))
    return [{"filename": name, "status": "modified", "sha": "0" * 40} for name in names]


def _compare(a: Asked) -> Any:
    base, _, head = a.parts[0].partition("...")
    if not {base, head} <= set(a.repo.trees):
        raise missing()
    pulls = [p for p in a.repo.pulls if p.head_sha == head]
    merge_base = (pulls[0].merge_base if pulls else None) or base
    commit = {"sha": merge_base, "url": f"{a.base}/repos/{a.name}/commits/{merge_base}"}
    return {"status": "ahead", "merge_base_commit": commit, "base_commit": commit, "files": []}


def _commit(a: Asked) -> Any:
    if a.parts[0] not in a.repo.trees:
        raise missing()
    url = f"{a.base}/repos/{a.name}/commits/{a.parts[0]}"
    return {"sha": a.parts[0], "url": url}


def _tree(a: Asked) -> Any:
    """Return a commit's tree; of a directory the part below it, when not asked recursively."""
    commit, _, folder = unquote(a.parts[0]).partition(":")
    files = a.repo.trees.get(commit)
    if files is None:
        raise missing()
    if "recursive" in a.query:
        cut = commit in a.repo.truncated
        entries = [] if cut else [w.tree_entry(path, text) for path, text in files.items()]
        return {"sha": commit, "tree": entries, "truncated": cut}
    below: dict[str, dict[str, Any]] = {}
    prefix = f"{folder}/" if folder else ""
    for path, text in files.items():
        if path.startswith(prefix):
            first, _, rest = path.removeprefix(prefix).partition("/")
            entry = w.tree_entry(first, text)
            if rest:
                sha = f"{commit}:{prefix}{first}"
                entry = {"path": first, "mode": "040000", "type": "tree", "sha": sha}
            below[first] = entry
    return {"sha": commit, "tree": list(below.values()), "truncated": False}


def _encoded(content: str | dict[str, Any]) -> str:
    if isinstance(content, dict):
        return str(content.get("base64") or "")
    return base64.encodebytes(content.encode()).decode()


def _blob(a: Asked) -> Any:
    for files in a.repo.trees.values():
        for content in files.values():
            if w.blob_sha(content) == a.parts[0]:
                return {"sha": a.parts[0], "encoding": "base64", "content": _encoded(content)}
    raise missing()


def _contents(a: Asked) -> Any:
    pull = next(iter(a.repo.pulls), None)
    ref = a.query.get("ref", pull.base_sha if pull else "")
    path = unquote(a.parts[0])
    content = a.repo.trees.get(ref, {}).get(path)
    if content is None:
        raise missing()
    entry = w.tree_entry(path, content)
    encoded = {"encoding": "base64", "content": _encoded(content), "name": path.split("/")[-1]}
    return {**entry, **encoded, "type": "file"}


def _issues(a: Asked) -> Any:
    wanted = {name for name in a.query.get("labels", "").split(",") if name}
    state = a.query.get("state", "open")
    creator = a.query.get("creator")
    return [
        w.issue_json(a.base, a.name, issue)
        for issue in a.repo.issues
        if state in {"all", issue.state}
        and wanted <= set(issue.labels)
        and creator in {None, issue.login}
    ]


def _issue(a: Asked) -> Any:
    return w.issue_json(a.base, a.name, a.repo.issue(int(a.parts[0])))


def _open_issue(a: Asked) -> Any:
    number = 1 + max([0, *(i.number for i in a.repo.issues), *(p.number for p in a.repo.pulls)])
    labels = list(a.body.get("labels", []))
    issue = w.Issue(number, a.body["title"], a.body.get("body") or "", labels=labels, login=a.login)
    a.repo.issues.append(issue)
    raise Reply(201, w.issue_json(a.base, a.name, issue))


def _edit_issue(a: Asked) -> Any:
    issue = next((i for i in a.repo.issues if i.number == int(a.parts[0])), None)
    if issue is None:
        raise missing()
    for key in ("title", "body", "state", "state_reason", "labels"):
        if key in a.body:
            setattr(issue, key, a.body[key])
    return w.issue_json(a.base, a.name, issue)


def _label(a: Asked) -> Any:
    issue = a.repo.issue(int(a.parts[0]))
    names = a.body if isinstance(a.body, list) else a.body["labels"]
    issue.labels += [name for name in names if name not in issue.labels]
    return [{"name": name} for name in issue.labels]


def _unlabel(a: Asked) -> Any:
    labels = a.repo.issue(int(a.parts[0])).labels
    if unquote(a.parts[1]) not in labels:
        raise missing()
    labels.remove(unquote(a.parts[1]))
    return [{"name": name} for name in labels]


def _make_label(a: Asked) -> Any:
    if a.body["name"] in a.repo.labels:
        raise Reply(422, {"message": "Validation Failed", "errors": [{"code": "already_exists"}]})
    a.repo.labels.append(a.body["name"])
    raise Reply(201, {"name": a.body["name"]})


def _comments(a: Asked) -> Any:
    found = [c for c in a.repo.comments if c.issue == int(a.parts[0])]
    return [w.comment_json(a.base, a.name, c) for c in found]


def _comment(a: Asked) -> Any:
    a.repo.issue(int(a.parts[0]))
    body = a.body["body"]
    if not body or len(body) > 65_536:
        raise Reply(422, {"message": "Validation Failed"})
    number = 1 + max([100, *(c.id for c in a.repo.comments)])
    comment = w.Comment(number, int(a.parts[0]), body, a.login)
    a.repo.comments.append(comment)
    raise Reply(201, w.comment_json(a.base, a.name, comment))


def _edit_comment(a: Asked) -> Any:
    comment = next((c for c in a.repo.comments if c.id == int(a.parts[0])), None)
    if comment is None:
        raise missing()
    if len(a.body["body"]) > 65_536:
        raise Reply(422, {"message": "Validation Failed"})
    comment.body = a.body["body"]
    return w.comment_json(a.base, a.name, comment)


def _events(a: Asked) -> Any:
    return [w.event_json(event) for event in a.repo.events.get(a.parts[0], [])]


def _permission(a: Asked) -> Any:
    role = a.repo.permissions.get(unquote(a.parts[0]))
    if role is None:
        raise missing()
    legacy = {"maintain": "write", "triage": "read"}.get(role, role)
    return {"permission": legacy, "role_name": role, "user": w.user(a.parts[0])}


def _statuses(a: Asked) -> Any:
    found = [s for s in reversed(a.repo.statuses) if s.sha == a.parts[0]]
    return [w.status_json(a.base, a.name, s) for s in found]


def _set_status(a: Asked) -> Any:
    told = {key: a.body[key] for key in ("context", "description", "target_url") if key in a.body}
    if len(told.get("description", "")) > 140 or a.parts[0] not in a.repo.trees:
        raise Reply(422, {"message": "Validation Failed"})
    status = w.Status(a.parts[0], a.body["state"], login=a.login, **told)
    a.repo.statuses.append(status)
    raise Reply(201, w.status_json(a.base, a.name, status))


def _sarif(a: Asked) -> Any:
    a.repo.alerts.append(a.body)
    raise Reply(202, {"id": str(len(a.repo.alerts))})


ROUTES: tuple[tuple[str, str, Callable[[Asked], Any]], ...] = (
    ("GET", "", _repository),
    ("GET", "/pulls", _pulls),
    ("GET", r"/pulls/(\d+)", _pull),
    ("GET", r"/pulls/(\d+)/files", _changed),
    ("GET", r"/compare/(.+)", _compare),
    ("GET", r"/commits/([^/]+)", _commit),
    ("GET", r"/git/trees/(.+)", _tree),
    ("GET", r"/git/blobs/(\w+)", _blob),
    ("GET", r"/contents/(.+)", _contents),
    ("GET", "/issues", _issues),
    ("POST", "/issues", _open_issue),
    ("GET", r"/issues/(\d+)", _issue),
    ("PATCH", r"/issues/(\d+)", _edit_issue),
    ("POST", r"/issues/(\d+)/labels", _label),
    ("DELETE", r"/issues/(\d+)/labels/(.+)", _unlabel),
    ("POST", "/labels", _make_label),
    ("GET", r"/issues/(\d+)/comments", _comments),
    ("POST", r"/issues/(\d+)/comments", _comment),
    ("PATCH", r"/issues/comments/(\d+)", _edit_comment),
    ("GET", r"/issues/(\d+)/events", _events),
    ("GET", r"/collaborators/([^/]+)/permission", _permission),
    ("GET", r"/(?:statuses|commits)/(\w+)(?:/statuses)?", _statuses),
    ("POST", r"/statuses/(\w+)", _set_status),
    ("POST", "/code-scanning/sarifs", _sarif),
)
