"""What labels do between runs of the gate: accept a verdict, or let a fork be measured."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from regress.cli import main
from regress.github.comments import MARKER
from regress.model.bump import Bump, BumpCode, BumpReason, Given, State
from tests.regress.github.conftest import Run
from tests.regress.github.reports import RED, bump
from tests.regress.github.worlds import GATE, HEAD, NAME, OLDER, world
from tests.support.github_api import serve
from tests.support.github_world import Comment, Event, World


def _bumped(tmp_path: Path, head: str, made_up: World) -> Bump:
    with serve(made_up) as api, pytest.MonkeyPatch.context() as patch:
        patch.setenv("GITHUB_API_URL", api.url)
        file = tmp_path / "told.json"
        usual = ["--repository", NAME, "--pull", "7", "--output", str(file)]
        assert main(["bump", *usual, "--head", head]) == 0
    return msgspec.json.decode(file.read_bytes(), type=Bump)


def _label(made_up: World, name: str, login: str, seconds: int = 1) -> None:
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    repository = made_up.repositories[NAME]
    repository.pulls[0].labels = [name]
    event = Event("labeled", login, name, at.strftime("%Y-%m-%dT%H:%M:%SZ"))
    repository.events.setdefault("7", []).append(event)


def test_accepted_and_pushed_again(run: Run, tmp_path: Path) -> None:
    """Red, accepted by a maintainer, pushed again: the label counts for the one commit alone."""
    made_up = world()
    repository = made_up.repositories[NAME]
    first = run(_bumped(tmp_path, HEAD, made_up), RED, world=made_up)
    assert first.code == 1
    _label(made_up, "attention-regression-accepted", "pusher")
    assert _bumped(tmp_path, HEAD, made_up).state == "measure"
    _label(made_up, "attention-regression-accepted", "keeper", seconds=2)
    for _ in range(2):
        told = _bumped(tmp_path, HEAD, made_up)
        assert told.state == "accepted"
        ran = run(told, world=made_up)
        assert ran.error == ""
        assert (ran.code, ran.marks[-1]) == (0, ("success", HEAD))
        [body] = ran.bodies
        assert body.count("### Accepted by `keeper`") == 1
        assert body.count("### flashinfer-python 0.6.0 → 0.6.1: attention got slower") == 1
        assert "WAIVED: accepted by keeper" in ran.shown
    repository.trees[OLDER] = {**repository.trees[HEAD], "more.py": ""}
    repository.pulls[0].head_sha = OLDER
    pushed = _bumped(tmp_path, OLDER, made_up)
    assert (pushed.state, pushed.accepted) == ("measure", None)
    assert "set it again" in pushed.notes[0]
    [body] = run(pushed, RED, world=made_up).bodies
    assert "Accepted by" not in body


def test_acceptance_without_the_verdicts_comment(run: Run) -> None:
    """A comment about another commit is not passed off as the verdict that is accepted."""
    given = Given("attention-regression-accepted", "keeper", "maintain", "2026-01-01", HEAD)
    told = bump(state=State.ACCEPTED, reason=BumpReason(BumpCode.ACCEPTED, "x"), accepted=given)
    made_up = world()
    text = f"{MARKER}\n<!-- commit: {OLDER} -->\n<!-- verdict -->\nof another commit"
    made_up.repositories[NAME].comments = [Comment(1, 7, text, GATE)]
    [body] = run(told, world=made_up).bodies
    assert "Accepted by `keeper`" in body
    assert "The comment with the verdict is gone." in body
    assert "of another commit" not in body


def test_fork_from_comment_to_label(run: Run, tmp_path: Path) -> None:
    """The gate asks for the label, and the label that answers it starts the measuring."""
    made_up = world(head_repo="stranger/engine")
    _label(made_up, "attention-gate-run", "keeper", seconds=-60)
    told = _bumped(tmp_path, HEAD, made_up)
    assert told.reason.code == "needs-label"
    ran = run(told, world=made_up)
    assert (ran.code, ran.marks) == (0, [("pending", HEAD)])
    assert _bumped(tmp_path, HEAD, made_up).reason.code == "needs-label"
    _label(made_up, "attention-gate-run", "keeper")
    assert _bumped(tmp_path, HEAD, made_up).state == "measure"
