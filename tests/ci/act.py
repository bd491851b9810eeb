"""Runs real workflow files with act: on this host, without Docker and without network.

act skips no remote action, so those that the workflows use have stand-ins here. What a job can
read is its workspace, which starts empty: the suite gets there by the stand-in of checkout only.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ACT = Path(sys.executable).parent / "act"
STAND_INS = Path(__file__).parent / "stand_ins"
SUITE = "acme/attention-regress"
"""Where this suite is said to live; the ref is COMMIT."""
COMMIT = "5" * 40
_USED = re.compile(r"uses: ([\w-]+/[\w-]+)(/[\w/-]+)?@([0-9a-f]{40}) # v")
_GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid"]


@dataclass(frozen=True)
class Outcome:
    """What became of a run.

    Attributes
    ----------
    jobs
        Result by job id; jobs that were skipped are not in it.
    log
        All that the jobs printed.
    """

    code: int
    jobs: dict[str, str]
    log: str


@dataclass
class Runner:
    """A host with act, in a folder of its own.

    Attributes
    ----------
    folder
        Holds `head` (the tree of the pull request, which must never be read), `artifacts` and
        `log` (what the stand-ins did).
    suite
        Copy of this suite that jobs get.
    env
        Environment of the runner.
    variables
        Variables of the repository.
    """

    folder: Path
    suite: Path
    env: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("head", "artifacts", "home"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "suite").symlink_to(self.suite)

    @property
    def log(self) -> list[str]:
        """What the stand-ins did, a line each."""
        path = self.folder / "log"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def run(self, repository: str, event: str, payload: Mapping[str, Any]) -> Outcome:
        """Run the workflows of the tree in `head` that this event starts."""
        head = self.folder / "head"
        if not (head / ".git").exists():
            remote = f"https://github.com/{repository}.git"
            for command in (
                ["init", "-q", "-b", "main"],
                ["remote", "add", "origin", remote],
                ["add", "-A"],
                ["commit", "-q", "-m", "Begin"],
            ):
                subprocess.run([*_GIT, *command], cwd=head, check=True, env=self._environment())
        (self.folder / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        done = subprocess.run(
            self._command(event),
            cwd=head,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return _outcome(done)

    def _command(self, event: str) -> list[str]:
        command = [str(ACT), event, "--json", "-e", str(self.folder / "event.json")]
        command += ["-P", "ubuntu-24.04=-self-hosted", "-P", "self-hosted=-self-hosted"]
        command += ["--no-cache-server", "--concurrent-jobs", "1"]
        command += ["--action-cache-path", str(self.folder / "cache")]
        command += ["-s", "GITHUB_TOKEN=made-up-token"]
        for replaced in (f"{SUITE}@{COMMIT}={self.suite}", *_replaced(self.suite)):
            command += ["--local-repository", replaced]
        for key, value in {**self.env, "STAND_INS": str(self.folder)}.items():
            command += ["--env", f"{key}={value}"]
        for key, value in self.variables.items():
            command += ["--var", f"{key}={value}"]
        return command

    def _environment(self) -> dict[str, str]:
        home = str(self.folder / "home")
        return {"PATH": os.environ["PATH"], "HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}


def copy_suite(into: Path) -> None:
    """Copy what git knows of this suite or would add, and compile it once for all jobs."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, into / name)
    unchecked = ["-q", "--invalidation-mode", "unchecked-hash"]
    subprocess.run([sys.executable, "-m", "compileall", *unchecked, str(into)], check=True)


def _replaced(suite: Path) -> set[str]:
    """Return which folder stands for the repository of each action that the suite uses."""
    found = set()
    for path in suite.glob(".github/**/*.yml"):
        for repository, nested, commit in _USED.findall(path.read_text(encoding="utf-8")):
            name = repository.partition("/")[2]
            found.add(f"{repository}@{commit}={STAND_INS if nested else STAND_INS / name}")
    return found


def _outcome(done: subprocess.CompletedProcess[str]) -> Outcome:
    jobs: dict[str, str] = {}
    log = [done.stderr]
    for line in done.stdout.splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            log.append(f"{line}\n")
            continue
        if "jobResult" in told:
            jobs[told["jobID"]] = told["jobResult"]
        log.append(told["msg"] if told.get("raw_output") else f"{told['msg']}\n")
    return Outcome(done.returncode, jobs, "".join(log))
