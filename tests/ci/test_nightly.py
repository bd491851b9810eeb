"""The nightly run: the real workflow with act, a made-up GitHub, and recorded rounds replayed."""

import gzip
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from tests.ci.act import ROOT, SUITE, Outcome, Runner
from tests.ci.package_index import serve_index
from tests.support.github_api import serve
from tests.support.github_world import Issue, Repository, World
from workloads.record import Round

RECORDED = ROOT / "benchmarks" / "recorded" / "h200"
TAGS = ("v0.6.0", "v0.6.1")
FIRST, SECOND = "20261129-gate-a", "20261129-gate-b"
"""Recorded campaigns of one card, minutes apart, with seven rounds of each stack."""
BEGAN = {FIRST: "2026-11-29T19:14:00Z", SECOND: "2026-11-29T19:16:40Z"}
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@example.invalid")


def replayed(folder: Path, campaign: str, factor: float = 1.0) -> Path:
    """Write the rounds of a recorded campaign, or made-up ones that are slower by a factor."""
    for path in (path for tag in TAGS for path in (RECORDED / tag).iterdir()):
        found = msgspec.json.decode(gzip.decompress(path.read_bytes()), type=Round)
        if found.campaign != campaign:
            continue
        cases = tuple(
            msgspec.structs.replace(r, kernel_us=tuple(us * factor for us in r.kernel_us))
            for r in found.cases
        )
        target = folder / "h200" / path.parent.name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        slower = msgspec.json.encode(msgspec.structs.replace(found, cases=cases))
        target.write_bytes(path.read_bytes() if factor == 1 else gzip.compress(slower))
    return folder


@dataclass
class Nights:
    """A repository with its data branch, and a runner."""

    runner: Runner
    data: Path
    world: World

    @property
    def issues(self) -> list[Issue]:
        return self.world.repositories[SUITE].issues

    def run(self, replay: Path, since: str, machines: str) -> Outcome:
        """Let a night begin at a time, in which the rounds of a folder are measured."""
        self.runner.env["ATTN_REPLAY_ROUNDS"] = str(replay)
        inputs = {"since": since, "machines": machines}
        return self.runner.run(SUITE, "workflow_dispatch", {"inputs": inputs})

    def keep(self, rounds: Path) -> None:
        """Write the data branch as a night before has left it."""
        work = self.data.with_name("work")
        shutil.copytree(rounds, work / "rounds")
        there = f"--work-tree={work}"
        self.git(there, "add", "-A")
        self.git(there, "commit", "-q", "-m", "Keep the rounds of a night before")

    def git(self, *words: str) -> list[str]:
        command = [*GIT, f"--git-dir={self.data}", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    def refuse_one_push(self) -> None:
        """Let the next push fail as if another one had come before."""
        hook = self.data / "hooks" / "pre-receive"
        hook.write_text(f"#!/bin/sh\nrm {hook}\nexit 1\n")
        hook.chmod(0o755)


@pytest.fixture
def nights(tmp_path: Path, suite: Path) -> Iterator[Nights]:
    """Give nights that replay rounds, with a package index that knows no release."""
    runner, data = Runner(tmp_path / "runner", suite), tmp_path / "data.git"
    left_out = shutil.ignore_patterns("h200", "docs")  # what a night does not read
    shutil.copytree(suite, runner.folder / "head", ignore=left_out, dirs_exist_ok=True)
    for path in (runner.folder / "head" / ".github" / "workflows").iterdir():
        if path.name != "nightly.yml":
            path.unlink()
    subprocess.run([*GIT, "init", "-q", "--bare", "-b", "attention-data", str(data)], check=True)
    with ExitStack() as stack:
        world = World({SUITE: Repository()}, login="github-actions[bot]")
        api = stack.enter_context(serve(world))
        runner.env |= {
            "ATTN_PYTHON": sys.executable,
            "ATTN_DATA_REMOTE": str(data),
            "GITHUB_API_URL": api.url,
            "GITHUB_GRAPHQL_URL": f"{api.url}/graphql",
            "PIP_INDEX_URL": stack.enter_context(serve_index()),
        }
        # The recorded rounds get older every day.
        runner.variables |= {"ATTN_WITHIN_DAYS": "99999", "ATTN_PAGES": "true"}
        yield Nights(runner, data, world)


def test_a_night_of_three_signals(nights: Nights, tmp_path: Path) -> None:
    """One machine is slower than the night before and the job of another is lost: all is told.

    What was measured is kept all the same, though the first push is refused.
    """
    nights.keep(replayed(tmp_path / "first", FIRST))
    nights.refuse_one_push()
    slow = replayed(tmp_path / "second", SECOND, factor=1.1)
    done = nights.run(slow, BEGAN[SECOND], '["h200", "b200"]')
    assert "Replayed from rounds" in done.log
    assert done.jobs == {
        "plan": "success",
        "prebuild": "success",
        "measure": "failure",
        "keep": "success",
        "judge": "failure",
        "publish": "success",
    }, done.log
    assert (done.code, "exit status 2" in done.log) == (1, True)  # act's own code, and the alert's

    assert len(nights.git("log", "--format=%h", "attention-data")) == 2
    added = nights.git("diff", "--name-status", "attention-data~1", "attention-data")
    assert sum(line.startswith("A\trounds/h200/v0.6.") for line in added) == 14
    assert [line for line in added if "/h200/" not in line] == ["A\tstacks.toml"]

    told = {issue.labels[1]: issue for issue in nights.issues}
    assert {label: issue.title for label, issue in told.items()} == {
        "attention-job-failed": "nightly job measure failed, since 2026-11-29",
        "attention-data-missing": "b200 has no rounds, since 2026-11-29",
        "attention-regression": (
            "h200 got slower: 72 of 72 cases of v0.6.0, up to 1.10x, since 2026-11-29"
        ),
    }
    assert "it is the host and not the library" in told["attention-regression"].body
    assert (nights.runner.folder / "artifacts" / "github-pages" / "h200" / "index.html").exists()
    assert "publish publishes the site" in nights.runner.log
