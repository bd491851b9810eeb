"""Workflows are clean, and each linter would say so if they were not."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
CI = FOLDER / "ci.yml"
BIN = Path(sys.executable).parent
ACTIONLINT = ["actionlint", "-no-color", "-oneline", "-shellcheck=", "-pyflakes="]
"""Helpers that a host may or may not have are left out: the result is the same everywhere."""
ZIZMOR = ["zizmor", "--offline", "--persona=auditor", "--no-progress", "--color=never"]
PINNED = re.compile(r"uses: ([\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./\.github/actions/[\w-]+)$")


def lint(command: list[str], *paths: Path) -> tuple[int, str]:
    """Return the exit code and everything that a linter says of some files."""
    program = str(BIN / command[0])
    done = subprocess.run(
        [program, *command[1:], *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    return done.returncode, done.stdout + done.stderr


def load(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_actionlint_is_content() -> None:
    """Syntax, expressions and runner labels of all workflows are right."""
    assert lint(ACTIONLINT, *WORKFLOWS) == (0, "")


def test_zizmor_is_content() -> None:
    """Its strictest persona finds nothing unsafe in any workflow or action."""
    code, told = lint(ZIZMOR, ROOT / ".github")
    assert code == 0, told


@pytest.mark.parametrize(
    ("linter", "good", "bad", "told"),
    [
        (ACTIONLINT, "runs-on: ubuntu-24.04", "runs-on: some-gpu-box", 'label "some-gpu-box"'),
        (ACTIONLINT, "${{ matrix.python }}", "${{ matrix.pyton }}", '"pyton" is not defined'),
        (ACTIONLINT, "needs: [test]", "needs: [tests]", "tests"),
        (ZIZMOR, "checkout@3d3c42e5aac5ba805825da76410c181273ba90b1", "checkout@v4", "[unpinned"),
        (ZIZMOR, "persist-credentials: false", "persist-credentials: true", "[artipacked]"),
        (ZIZMOR, "permissions: {}", "permissions: write-all", "[excessive-permissions]"),
        (
            ZIZMOR,
            "run: bash .ci/run",
            "run: echo '${{ github.event.pull_request.title }}'",
            "[template-injection]",
        ),
        (ZIZMOR, "  pull_request:\n", "  pull_request_target:\n", "[dangerous-triggers]"),
    ],
)
def test_a_planted_fault_is_found(
    linter: list[str], good: str, bad: str, told: str, tmp_path: Path
) -> None:
    """A copy of a clean workflow with one fault fails the linter that is there for it."""
    text = CI.read_text(encoding="utf-8")
    assert good in text
    planted = tmp_path / ".github" / "workflows" / "ci.yml"
    planted.parent.mkdir(parents=True)
    planted.write_text(text.replace(good, bad), encoding="utf-8")
    code, says = lint(linter, planted)
    assert code != 0
    assert told in says


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_a_workflow_starts_with_no_rights(path: Path) -> None:
    """Rights are given a job at a time, and actions are named by commit and version."""
    text = path.read_text(encoding="utf-8")
    assert load(path)["permissions"] == {}
    used = [line for line in text.splitlines() if re.search(r"\buses: ", line)]
    assert [line for line in used if not PINNED.search(line)] == []


def test_ci_runs_the_test_command_on_every_supported_python() -> None:
    """The versions are those of pyproject.toml, and the command is the one of the README."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    supported = SpecifierSet(project["requires-python"])
    job = load(CI)["jobs"]["test"]
    wanted = [f"3.{minor}" for minor in range(8, 30) if supported.contains(f"3.{minor}")]
    assert job["strategy"]["matrix"]["python"] == wanted
    assert job["steps"][-1]["run"] == "bash .ci/run"
    assert "exec make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_one_check_waits_for_every_job_of_ci() -> None:
    """A new job cannot be forgotten by the check that branches are protected with."""
    jobs = load(CI)["jobs"]
    assert set(jobs["all"]["needs"]) == set(jobs) - {"all"}
    assert jobs["all"]["if"] == "always()"


@pytest.mark.parametrize(
    ("results", "passes"),
    [
        ("success", True),
        ("success success", True),
        ("success failure", False),
        ("failure success", False),
        ("cancelled", False),
        ("skipped", False),
        ("", False),
    ],
)
def test_the_one_check_passes_only_if_all_did(results: str, passes: bool) -> None:  # noqa: FBT001
    """A job that failed, was cancelled or was skipped fails it, and so does having none."""
    (step,) = load(CI)["jobs"]["all"]["steps"]
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run(
        [bash, "-e", "-c", step["run"]],
        env={**os.environ, "RESULTS": results},
        capture_output=True,
        check=False,
    )
    assert (done.returncode == 0) is passes


def test_ci_takes_the_locked_uv() -> None:
    """What gets Python for CI is pinned where all else is."""
    locked = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert len(re.findall(r"(?m)^uv==[\d.]+$", locked)) == 1
    (get,) = [s for s in load(CI)["jobs"]["test"]["steps"] if s.get("id") == "python"]
    assert "grep '^uv==' requirements.lock" in get["run"]
