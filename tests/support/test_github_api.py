"""The loopback API speaks to GitHub's own kind of client."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
import requests
from github import Auth, Github, GithubException, GithubRetry

from tests.support.github_api import GithubApi, serve
from tests.support.github_world import Comment, Event, Fault, Pull, Repository, World

ROOT = Path(__file__).parents[2]
BASE, HEAD = "a" * 40, "b" * 40


def world(**more: object) -> World:
    """Return a made-up repository with one pull request from a fork."""
    repository = Repository(
        trees={BASE: {"pins/r.txt": "x==1\n"}, HEAD: {"pins/r.txt": "x==2\n"}},
        pulls=[Pull(7, BASE, HEAD, head_repo="stranger/engine", labels=["go"])],
        comments=[Comment(n, 7, f"comment {n}") for n in range(1, 41)],
        events={"7": [Event("labeled", "keeper", "go")]},
        permissions={"keeper": "maintain"},
    )
    return World({"acme/engine": repository}, **more)  # type: ignore[arg-type]


def client(api: GithubApi) -> Github:
    retry = GithubRetry(total=3, backoff_factor=0, secondary_rate_wait=0)
    token = Auth.Token("secret")
    return Github(
        auth=token,
        base_url=api.url,
        retry=retry,
        seconds_between_requests=None,
        seconds_between_writes=None,
    )


def test_reads_as_the_client_does() -> None:
    """Pull request, files of a commit, events, roles and pages of comments come as asked."""
    with serve(world()) as api, client(api) as github:
        repository = github.get_repo("acme/engine")
        pull = repository.get_pull(7)
        assert pull.head.repo.full_name == "stranger/engine"
        assert [label.name for label in pull.labels] == ["go"]
        tree = repository.get_git_tree(HEAD, recursive=True)
        blob = repository.get_git_blob(tree.tree[0].sha)
        assert blob.content.strip() == "eD09Mgo="
        assert repository.compare(BASE, HEAD).merge_base_commit.sha == BASE
        assert [e.actor.login for e in pull.get_issue_events()] == ["keeper"]
        assert repository.get_collaborator_role_name("keeper") == "maintain"
        assert len(list(pull.get_issue_comments())) == 40
        assert {r.token for r in api.requests} == {"secret"}


def test_keeps_what_is_written() -> None:
    """Comments, their minimising and statuses change the world and are recorded."""
    told = world()
    with serve(told) as api, client(api) as github:
        repository = github.get_repo("acme/engine")
        comment = repository.get_pull(7).create_issue_comment("hello")
        comment.edit("bye")
        comment.minimize("OUTDATED")
        repository.get_commit(HEAD).create_status("success", context="gate")
        sent = [(r.method, r.path.rsplit("/", 1)[-1]) for r in api.requests if r.method != "GET"]
    kept = told.repositories["acme/engine"]
    assert (kept.comments[-1].body, kept.comments[-1].minimized) == ("bye", True)
    assert [(s.sha, s.state) for s in kept.statuses] == [(HEAD, "success")]
    assert sent == [("POST", "comments"), ("PATCH", "101"), ("POST", "graphql"), ("POST", HEAD)]


def test_faults_come_first_and_end() -> None:
    """A fault is answered as often as it says: the client gets over two, and not over nine."""
    faulty = [Fault("/pulls/", times=2), Fault("/issues/", status=403, times=9)]
    with serve(world(faults=faulty)) as api, client(api) as github:
        pull = github.get_repo("acme/engine").get_pull(7)
        with pytest.raises(GithubException, match="403"):
            list(pull.get_issue_comments())
        assert [r.status for r in api.sent("GET", "/pulls/")] == [502, 502, 200]


def test_runs_as_a_process(tmp_path: Path) -> None:
    """As a process it reads the world from a file, tells its port and logs every request."""
    state, log, port = tmp_path / "state.json", tmp_path / "log.jsonl", tmp_path / "port"
    state.write_bytes(msgspec.json.encode(world()))
    module = [sys.executable, "-m", "tests.support.github_api"]
    files = ["--state", str(state), "--log", str(log), "--port-file", str(port)]
    with subprocess.Popen([*module, *files], cwd=ROOT, env=dict(os.environ)) as process:
        try:
            deadline = time.monotonic() + 20
            while not port.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            url = f"http://127.0.0.1:{port.read_text().strip()}"
            assert requests.get(f"{url}/_world", timeout=5).json()["login"] == "gate[bot]"
            assert requests.get(f"{url}/repos/acme/other", timeout=5).status_code == 404
        finally:
            process.terminate()
    assert [json.loads(line)["status"] for line in log.read_text().splitlines()] == [200, 404]
