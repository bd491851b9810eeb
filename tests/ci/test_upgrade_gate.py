"""The upgrade gate, as another repository calls it: the real workflow, run with act.

The repository has the lines of the page and a pull request whose code leaves a mark if it runs.
"""

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.ci.act import Outcome, Runner
from tests.ci.conftest import plant
from tests.ci.package_index import serve_index
from tests.ci.pages import DIRECT, RUNNABLE
from tests.support.github_api import GithubApi, serve
from tests.support.github_world import Event, Pull, Repository, World

ENGINE = "acme/engine"
BASE, HEAD = "b" * 40, "a" * 40
MEASURED = {"pins": "success", "measure": "success", "report": "success"}
REFUSED = {**MEASURED, "report": "failure"}
UNMEASURED = {"pins": "success", "report": "success"}


@dataclass
class Gate:
    """A repository with the gate, and a pull request."""

    runner: Runner
    api: GithubApi

    @property
    def repository(self) -> Repository:
        return self.api.world.repositories[ENGINE]

    def run(
        self, action: str = "opened", *, on: str = "pull_request_target", **more: Any
    ) -> Outcome:
        """Let an event of the pull request happen."""
        (pull,) = self.repository.pulls
        head = {"sha": pull.head_sha, "repo": {"full_name": pull.head_repo or ENGINE}}
        told = {"number": 7, "head": head, "base": {"sha": pull.base_sha}, "draft": pull.draft}
        event = {"action": action, "number": 7, "pull_request": told, **more}
        return self.runner.run(ENGINE, on, event)

    def label(self, name: str, by: str) -> Outcome:
        """Let somebody set a label, a while after all that happened before."""
        at = datetime.now(UTC) + timedelta(seconds=5)
        event = Event("labeled", by, name, f"{at:%Y-%m-%dT%H:%M:%SZ}")
        self.repository.events.setdefault("7", []).append(event)
        self.repository.pulls[0].labels = [name]
        return self.run("labeled", label={"name": name}, sender={"login": by})

    @property
    def comment(self) -> str:
        """The one comment that is shown."""
        (shown,) = [c.body for c in self.repository.comments if not c.minimized]
        return shown

    @property
    def status(self) -> str:
        """The newest commit status of the head."""
        return [s.state for s in self.repository.statuses if s.sha == HEAD][-1]


def code_of(done: Outcome) -> str:
    """Return the exit code of the last job that names one: the verdict's."""
    return re.findall(r"::set-output:: exit-code=(\d)", done.log)[-1]


Make = Callable[..., Gate]


@pytest.fixture
def gate(runner: Runner) -> Iterator[Make]:
    """Give a function that makes a gate from the requirements of both sides."""
    workflow = runner.folder / "head" / ".github" / "workflows" / "attention.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(RUNNABLE, "utf-8")
    with ExitStack() as stack:

        def make(base: str, head: str, **pull: Any) -> Gate:
            trees = {sha: {"requirements.txt": text} for sha, text in ((BASE, base), (HEAD, head))}
            roles = {"owner": "maintain", "stranger": "read"}
            pulls = [Pull(7, BASE, HEAD, **pull)]
            repository = Repository(trees=trees, pulls=pulls, permissions=roles)
            api = stack.enter_context(serve(World({ENGINE: repository})))
            runner.env |= {"GITHUB_API_URL": api.url, "GITHUB_GRAPHQL_URL": f"{api.url}/graphql"}
            return Gate(runner, api)

        yield make


def flashinfer(version: str, more: str = "") -> str:
    return f"torch==2.11.0\nflashinfer-python=={version}\n{more}"


def test_an_upgrade_that_changed_nothing_passes(gate: Make) -> None:
    """0.6.0 to 0.6.1: green, one comment that says what was replayed, and no other writing."""
    g = gate(flashinfer("0.6.0"), flashinfer("0.6.1"))
    done = g.run()
    assert (done.code, done.jobs) == (0, MEASURED), done.log
    assert code_of(done) == "0"
    assert "SAME" in g.comment
    assert "replayed" in g.comment.lower()
    assert g.status == "success"
    assert g.runner.log == [
        "pins checks out suite",
        "measure checks out suite",
        "report checks out suite",
        f"report shows findings on refs/pull/7/head {HEAD}",
    ]
    written = [r.path for r in g.api.requests if r.method != "GET" and "graphql" not in r.path]
    assert set(written) == {
        f"/repos/{ENGINE}/issues/7/comments",
        f"/repos/{ENGINE}/statuses/{HEAD}",
    }


def test_a_workflow_that_a_pull_request_could_bring_reaches_no_gpu(gate: Make) -> None:
    """On `pull_request` the calling workflow is the stranger's own: nothing is read or measured."""
    g = gate(flashinfer("0.6.0"), flashinfer("0.6.1"))
    workflow = g.runner.folder / "head" / ".github" / "workflows" / "attention.yml"
    workflow.write_text(RUNNABLE.replace("pull_request_target", "pull_request"), "utf-8")
    done = g.run(on="pull_request")
    assert (done.code, done.jobs) == (1, {"pins": "failure", "report": "failure"}), done.log
    assert "pull_request_target or workflow_dispatch only" in done.log
    assert [r for r in g.api.requests if r.method != "GET"] == []


def test_an_upgrade_that_got_worse_fails(gate: Make) -> None:
    """0.5.3 to 0.6.0: the GPU job has done its work, the report is red and says what got worse."""
    g = gate(flashinfer("0.5.3"), flashinfer("0.6.0"))
    done = g.run()
    assert (done.code, done.jobs) == (1, REFUSED), done.log
    assert code_of(done) == "1"
    assert "REGRESSION" in g.comment
    assert "decode" in g.comment
    assert g.status == "failure"
    assert "::error" in done.log
    assert "Summary - #" in done.log


def test_an_upgrade_that_got_faster_says_so(gate: Make) -> None:
    """0.6.3 to 0.6.4: green, and the comment says faster."""
    g = gate(flashinfer("0.6.3"), flashinfer("0.6.4"))
    done = g.run()
    assert (done.code, done.jobs) == (0, MEASURED), done.log
    assert code_of(done) == "0"
    assert "\n### flashinfer-python 0.6.3 → 0.6.4: attention got faster\n" in g.comment
    assert "**IMPROVEMENT**" in g.comment
    assert g.status == "success"


def test_no_attention_change_is_quiet(gate: Make) -> None:
    """Another dependency moved: no GPU job and no comment, but a status for branch protection."""
    g = gate(flashinfer("0.6.0"), flashinfer("0.6.0", "requests==2.32.0\n"))
    done = g.run()
    assert (done.code, done.jobs) == (0, UNMEASURED), done.log
    assert g.repository.comments == []
    assert g.status == "success"


@pytest.mark.parametrize(
    "version",
    [
        "0.6.1;touch${{IFS}}{marker}$(touch${{IFS}}{marker})",
        "${{{{ github.token }}}}",
    ],
)
def test_an_injected_version_goes_nowhere(gate: Make, version: str, tmp_path: Path) -> None:
    """What is no version is refused before anything is measured; nothing of it is ever run."""
    evil = version.format(marker=tmp_path / "marker")
    g = gate(flashinfer("0.6.0"), flashinfer(evil))
    done = g.run()
    assert (done.code, done.jobs) == (1, {"pins": "failure", "report": "failure"}), done.log
    assert (code_of(done), g.status) == ("2", "error")
    assert "made-up-token" not in g.comment


def test_a_fork_waits_for_somebody_who_may(gate: Make) -> None:
    """Nothing of a fork is measured until a maintainer has said so for this very commit."""
    g = gate(flashinfer("0.6.0"), flashinfer("0.6.1"), head_repo="stranger/engine")
    assert g.run().jobs == UNMEASURED
    assert g.status == "pending"
    assert g.label("attention-gate-run", "stranger").jobs == UNMEASURED
    done = g.label("attention-gate-run", "owner")
    assert (done.code, done.jobs) == (0, MEASURED), done.log
    assert g.status == "success"


def test_what_got_worse_can_be_accepted(gate: Make) -> None:
    """A stranger's label changes nothing; a maintainer's turns the comment green."""
    g = gate(flashinfer("0.5.3"), flashinfer("0.6.0"))
    assert g.run().code == 1
    assert g.label("attention-regression-accepted", "stranger").code == 1
    assert g.status == "failure"
    done = g.label("attention-regression-accepted", "owner")
    assert (done.code, done.jobs) == (0, UNMEASURED), done.log
    assert "owner" in g.comment
    assert "REGRESSION" in g.comment
    assert g.status == "success"


def test_a_draft_is_not_measured(gate: Make) -> None:
    """It waits until it is ready."""
    g = gate(flashinfer("0.6.0"), flashinfer("0.6.1"), draft=True)
    done = g.run()
    assert (done.code, done.jobs) == (0, UNMEASURED), done.log
    assert "success" not in {s.state for s in g.repository.statuses}


def test_what_is_not_about_pins_starts_nothing(gate: Make) -> None:
    """A label that is none of the gate's, or a new title: nobody is asked, nothing is written."""
    g = gate(flashinfer("0.6.0"), flashinfer("0.6.1"))
    for done in (g.label("dependencies", "stranger"), g.run("edited", changes={"title": {}})):
        assert (done.code, done.jobs) == (0, {})
    assert g.api.requests == []


def test_another_base_is_another_question(gate: Make) -> None:
    """A pull request that is pointed at another branch is looked at again."""
    g = gate(flashinfer("0.6.0"), flashinfer("0.6.0"))
    done = g.run("edited", changes={"base": {"ref": {"from": "main"}, "sha": {"from": "c" * 40}}})
    assert (done.code, done.jobs) == (0, UNMEASURED), done.log


def test_a_dispatch_names_the_pull_request(gate: Make) -> None:
    """Where the event is of none, the number is an input, and the head is that of now."""
    g = gate(flashinfer("0.6.0"), flashinfer("0.6.0"))
    workflow = g.runner.folder / "head" / ".github" / "workflows" / "attention.yml"
    trigger = re.sub(r"(?s)on:\n.*?\npermissions", "on: workflow_dispatch\npermissions", RUNNABLE)
    workflow.write_text(f"{trigger}    with: {{pull: 7}}\n", "utf-8")
    done = g.runner.run(ENGINE, "workflow_dispatch", {})
    assert (done.code, done.jobs) == (0, UNMEASURED), done.log
    assert g.status == "success"


LOST = {"pins": "success", "measure": "failure", "report": "failure"}
HOLLOW = (
    "for a in $*; do case $a in json=*) a=${a#json=};"
    " echo '{}' > $a; echo '{}' > $(dirname $a)/bump.json;; esac; done; "
)
"""Leaves a report that says nothing, and something in the place of what the job before read."""


@pytest.mark.parametrize(
    ("does", "jobs"),
    [
        pytest.param(HOLLOW + "kill -9 $PPID; exit", LOST, id="killed"),
        pytest.param(HOLLOW + "exit 0", REFUSED, id="hollow report"),
        pytest.param(f'{sys.executable} "$@"; kill -9 $PPID; exit', LOST, id="killed late"),
    ],
)
def test_measuring_that_leaves_nothing_is_no_pass(
    gate: Make, does: str, jobs: dict[str, str], tmp_path: Path
) -> None:
    """Killed in the middle, or without a report: red, and the comment claims nothing."""
    g = gate(flashinfer("0.6.0"), flashinfer("0.6.1"))
    g.runner.env["ATTN_PYTHON"] = str(failing_python(tmp_path / "python", does))
    done = g.run()
    assert (done.code, done.jobs) == (1, jobs), done.log
    assert "SAME" not in g.comment
    assert (code_of(done), g.status) == ("4", "error")


def test_a_lost_gpu_runner_is_no_pass(gate: Make) -> None:
    """Nothing at all arrives from it, and what an earlier attempt left is not taken for its."""
    g = gate(flashinfer("0.6.0"), flashinfer("0.6.1"))
    earlier = g.runner.folder / "artifacts" / "attention-gate-report"
    earlier.mkdir()
    (earlier / "log.txt").write_text("of an earlier attempt\n", "utf-8")
    g.runner.env["STAND_INS_LOSE"] = "attention-gate-report"
    done = g.run()
    assert (done.code, done.jobs) == (1, LOST), done.log
    assert "SAME" not in g.comment
    assert "of an earlier attempt" not in g.comment
    assert (code_of(done), g.status) == ("4", "error")


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="this host has a GPU")
def test_a_host_that_is_unfit_measures_nothing(gate: Make) -> None:
    """Doctor comes before measuring, and its word is in the comment."""
    g = gate(flashinfer("0.6.0"), flashinfer("0.6.1"))
    del g.runner.env["ATTN_REPLAY"]
    done = g.run()
    assert (done.code, done.jobs) == (1, LOST), done.log
    assert "replayed" not in g.comment.lower()
    assert "GPU" in g.comment
    assert g.status == "error"


def test_prebuilt_modules_reach_the_gpu_job(gate: Make, tmp_path: Path) -> None:
    """An artifact of an earlier job is what doctor and measuring are pointed to."""
    g = gate(flashinfer("0.6.0"), flashinfer("0.6.1"))
    workflow = g.runner.folder / "head" / ".github" / "workflows" / "attention.yml"
    workflow.write_text(f"{RUNNABLE}    with: {{modules-artifact: built}}\n", "utf-8")
    (g.runner.folder / "artifacts" / "built" / "0.6.1").mkdir(parents=True)
    del g.runner.env["ATTN_REPLAY"]
    does = 'echo "doctor of $*"; for a in "$@"; do ls "$a/0.6.1" && echo is there; done; exit 1'
    python = failing_python(tmp_path / "python", does, "-m benchmarks doctor")
    g.runner.env["ATTN_PYTHON"] = str(python)
    done = g.run()
    assert done.jobs == LOST, done.log
    assert re.search(r"doctor of .*v0.6.0 v0.6.1 --modules /\S+/attention-modules --json", done.log)
    assert "is there" in done.log


def failing_python(path: Path, does: str, at: str = "-m regress ab") -> Path:
    """Write a Python that does something else at one command: when it should measure."""
    python = f'#!/bin/sh\ncase "$*" in "{at}"*) {does};; esac\nexec {sys.executable} "$@"\n'
    path.write_text(python, "utf-8")
    path.chmod(0o755)
    return path


def test_an_unknown_version_is_named(gate: Make) -> None:
    """The index has no such release: no verdict, and the comment says why."""
    g = gate(flashinfer("0.6.0"), flashinfer("99.0"))
    with serve_index() as url:
        g.runner.env["PIP_INDEX_URL"] = url
        done = g.run()
    assert (done.code, done.jobs) == (1, LOST), done.log
    assert "no wheel of flashinfer-python==99.0" in g.comment
    assert (code_of(done), g.status) == ("2", "error")


@pytest.mark.parametrize(
    ("base", "head", "shown", "told"),
    [
        pytest.param(
            flashinfer("0.6.0", "fa3-fwd==0.0.2\n"),
            flashinfer("0.6.1", "fa3-fwd==0.0.3\n"),
            ["flashinfer-python 0.6.0 → 0.6.1", "fa3-fwd 0.0.2 → 0.0.3"],
            "made the ad-hoc stack pins-v0.6.0_fa3-fwd-0.0.2",
            id="two libraries",
        ),
        pytest.param(
            flashinfer("0.6.1"),
            flashinfer("0.6.0"),
            ["flashinfer-python 0.6.1 → 0.6.0"],
            "from v0.6.1 to v0.6.0 under",
            id="downgrade",
        ),
    ],
)
def test_what_nobody_recorded_is_no_pass(
    gate: Make, base: str, head: str, shown: list[str], told: str
) -> None:
    """Two libraries at once, or a downgrade, are named as such; no run of them is recorded."""
    g = gate(base, head)
    done = g.run()
    assert (done.code, done.jobs) == (1, LOST), done.log
    assert [words for words in shown if words not in g.comment] == []
    assert told in done.log, done.log
    assert g.status == "error"


@pytest.mark.parametrize(("head", "code"), [("0.6.1", 0), ("0.6.4", 1)])
def test_the_action_alone_gates(runner: Runner, head: str, code: int) -> None:
    """Ten lines measure two versions; the job fails if there is no pass."""
    workflow = runner.folder / "head" / ".github" / "workflows" / "attention.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(DIRECT.replace("0.6.1", head), "utf-8")
    done = runner.run(ENGINE, "workflow_dispatch", {})
    assert (done.code, set(done.jobs.values())) == (code, {["success", "failure"][code]}), done.log
    assert runner.log == []


def test_a_checkout_of_the_pull_request_would_be_seen(
    gate: Make, suite: Path, tmp_path: Path
) -> None:
    """Were the GPU job to take another tree than the suite, code of it would leave the mark."""
    g = gate(flashinfer("0.6.0"), flashinfer("0.6.1"))
    marker = tmp_path / "other-mark"
    plant(g.runner.folder / "head", marker)
    g.runner.suite = tmp_path / "faulty"
    shutil.copytree(suite, g.runner.suite)
    workflow = g.runner.suite / ".github" / "workflows" / "upgrade-gate.yml"
    before, job, after = workflow.read_text("utf-8").partition("  measure:\n    name")
    fault = "          ref: ${{ github.event.pull_request.head.sha }}\n"
    faulty = re.sub(r" +repository: .*\n +ref: .*\n", fault, after, count=1)
    workflow.write_text(before + job + faulty, "utf-8")
    g.run()
    assert "measure checks out head" in g.runner.log
    assert marker.exists()
