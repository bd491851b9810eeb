"""The command `comment`, run on a made-up world."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from regress.cli import main
from regress.github.marks import CONTEXT
from regress.model.bump import Bump
from regress.model.report import CheckReport
from regress.report.json import render_json
from tests.regress.github.pages import RUN_URL
from tests.regress.github.worlds import NAME, world
from tests.support.github_api import GithubApi, serve
from tests.support.github_world import Repository


class Ran(NamedTuple):
    """What a run of the command left."""

    code: int
    shown: str
    error: str
    summary: str
    repository: Repository
    api: GithubApi

    @property
    def bodies(self) -> list[str]:
        return [comment.body for comment in self.repository.comments if not comment.minimized]

    @property
    def marks(self) -> list[tuple[str, str]]:
        return [(s.state, s.sha) for s in self.repository.statuses if s.context == CONTEXT]


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Run:
    """Run the command on a world, with what the jobs before left."""

    def _run(told: Bump, judged: CheckReport | None = None, *more: str, **made_up: Any) -> Ran:
        kept = made_up.get("world") or world()
        (tmp_path / "bump.json").write_bytes(msgspec.json.encode(told))
        arguments = ["comment", "--bump", str(tmp_path / "bump.json"), "--run-url", RUN_URL, *more]
        if judged:
            (tmp_path / "report.json").write_text(render_json(judged))
            arguments += ["--report", str(tmp_path / "report.json")]
        summary = tmp_path / "summary"
        summary.write_text("")
        capfd.readouterr()
        with serve(kept) as api:
            monkeypatch.setenv("GITHUB_API_URL", api.url)
            monkeypatch.setenv("GITHUB_TOKEN", "made-up")
            monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
            code = main(arguments)
        shown, error = capfd.readouterr()
        return Ran(code, shown, error, summary.read_text(), kept.repositories[NAME], api)

    return _run
