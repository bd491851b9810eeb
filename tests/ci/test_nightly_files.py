"""What the files of the nightly run must and must never do, and its scripts on a made-up host."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cli import _parser
from regress.store.load import load_round
from regress.store.tree import RECORDED
from tests.ci.act import ROOT
from tests.test_workflows import load

NIGHTLY = ROOT / ".github" / "workflows" / "nightly.yml"
SCRIPTS = ROOT / ".github" / "nightly"
JOBS: dict[str, Any] = load(NIGHTLY)["jobs"]
FAKE = """#!/usr/bin/env bash
shift 2
echo "$*" >> calls
if [[ $1 == run ]]; then
  mkdir -p .asv/rounds/h200/v2
  echo new | tee .asv/rounds/h200/v2/{new.json.gz,unrunnable.json,other}
fi
if [[ ,$FAIL, == *,$1,* ]]; then exit 2; fi
"""
"""Stands for Python: notes commands, writes a round when it should measure, fails on request."""


def test_only_the_default_branch_starts_it() -> None:
    """A schedule and a dispatch: no pull request, push or other workflow reaches the GPU."""
    triggers = dict(load(NIGHTLY))[True]  # YAML 1.1 reads `on` as true
    assert set(triggers) == {"schedule", "workflow_dispatch"}


def test_the_gpu_job_gets_files_and_no_token() -> None:
    """Its rights are to read this repository, and no step is handed a token or a secret."""
    job = JOBS["measure"]
    assert job["permissions"] == {"contents": "read"}
    assert not re.search(r"secrets\.|github\.token|TOKEN", str(job["steps"]))
    assert {"self-hosted", "gpu"} < set(job["runs-on"])


def test_each_right_to_write_is_one_jobs() -> None:
    """Rounds, issues and pages are written by three jobs, on hosted runners."""
    writing = {
        name: {right for right, how in job["permissions"].items() if how == "write"}
        for name, job in JOBS.items()
    }
    assert {name: rights for name, rights in writing.items() if rights} == {
        "keep": {"contents"},
        "judge": {"issues"},
        "publish": {"pages", "id-token"},
    }
    assert {JOBS[name]["runs-on"] for name in ("keep", "judge", "publish")} == {"ubuntu-24.04"}


def test_people_are_told_whatever_happened() -> None:
    """Judging waits for every job before it, and runs even if the GPU job never began."""
    assert set(JOBS["judge"]["needs"]) == set(JOBS) - {"judge", "publish"}
    assert (JOBS["judge"]["if"], JOBS["keep"]["if"]) == ("always()", "always()")
    assert JOBS["judge"]["steps"][-1]["if"] == "always()"
    assert JOBS["judge"]["steps"][-1]["run"] == "bash .github/nightly/tell.sh"
    assert all(job["timeout-minutes"] for job in JOBS.values())


def test_nothing_is_pushed_by_force_or_to_main() -> None:
    """The only push is to the data branch, and git may refuse it."""
    pushes = [
        line
        for path in SCRIPTS.glob("*.sh")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\bpush\b", line) and not line.lstrip().startswith(("#", "echo"))
    ]
    assert pushes == ['  if git -C data push -q origin "HEAD:refs/heads/$DATA_BRANCH"; then']


def test_every_script_is_used() -> None:
    """No script is forgotten beside the workflow."""
    told = NIGHTLY.read_text(encoding="utf-8") + "data-branch.sh prebuild.txt"
    assert [path.name for path in SCRIPTS.iterdir() if path.name not in told] == []


def test_modules_are_built_by_the_compiler_of_the_gpu_hosts() -> None:
    """The recorded rounds' toolchain is the one that is installed for prebuilding."""
    (version,) = re.findall(
        r"nvidia-cuda-nvcc==([\d.]+)", (SCRIPTS / "prebuild.txt").read_text(encoding="utf-8")
    )
    newest = max((RECORDED / "h200" / "v0.6.1").iterdir())
    assert load_round(newest).machine.nvcc == version


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """Give a checkout with the scripts, a night to measure, and a Python that only takes notes."""
    shutil.copytree(SCRIPTS, tmp_path / ".github" / "nightly")
    old = tmp_path / "night" / "rounds" / "h200" / "v1" / "old.json.gz"
    for path in (old, tmp_path / "night" / "stacks.toml", tmp_path / "benchmarks" / "x"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "python").write_text(FAKE)
    (tmp_path / "nvcc").write_text("")
    for name in ("python", "nvcc"):
        (tmp_path / name).chmod(0o755)
    return tmp_path


def script(host: Path, name: str, fail: str = "", **env: str) -> tuple[int, list[str]]:
    """Run a script and return its exit code and the commands it gave."""
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run(
        [bash, f".github/nightly/{name}.sh"],
        cwd=host,
        env={
            "PATH": f"{host}:{os.environ['PATH']}",
            "PYTHON": str(host / "python"),
            "ATTN_PYTHON": "given",
            "FAIL": fail,
            **env,
        },
        capture_output=True,
        check=False,
    )
    calls = host / "calls"
    return done.returncode, calls.read_text().splitlines() if calls.exists() else []


NIGHT = {"AGAIN": "v2 v1", "REFERENCE": "v1", "BUDGET_S": "60", "MACHINE": "h200"}


@pytest.mark.parametrize(
    ("fail", "code", "given"),
    [
        ("", 0, ["doctor", "run", "backfill"]),
        ("doctor", 2, ["doctor"]),
        ("run", 2, ["doctor", "run", "backfill"]),
        ("backfill", 2, ["doctor", "run", "backfill"]),
    ],
)
def test_a_night_begins_with_doctor(fail: str, code: int, given: list[str], host: Path) -> None:
    """An unfit host measures nothing; a stack that fails does not stop what is missing."""
    ended, calls = script(host, "measure", fail, **NIGHT)
    assert (ended, [call.split()[0] for call in calls]) == (code, given)
    assert (host / "measured" / "log.txt").exists()


def test_the_commands_of_a_night_are_the_suites(
    host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command and option that the scripts give exists, with and without modules."""
    (host / "modules").mkdir()
    script(host, "measure", **NIGHT)
    _, calls = script(host, "prebuild", STACKS="v2 v1")
    monkeypatch.chdir(host)
    for call in calls:
        _parser().parse_args(call.split())
    assert [call.split()[0] for call in calls] == [
        *("doctor", "run", "backfill"),
        *["prebuild"] * 2,
    ]
    assert calls[1] == "run v2 v1 --modules modules --machine h200 --tier gate --rounds 5"


def test_a_stack_that_cannot_be_built_does_not_stop_another(host: Path) -> None:
    """All are tried, and the job fails."""
    code, calls = script(host, "prebuild", "prebuild", STACKS="v2 v1")
    assert (code, len(calls)) == (2, 2)


@pytest.mark.parametrize(
    "machines",
    ["[]", '["../h200"]', '["h 200"]', "h200", '"h200"', '{"h200": 1}', '["a", "a"]', "[1, null]"],
)
def test_machines_are_names(machines: str, host: Path) -> None:
    """They become labels and folders: anything else ends the night before it begins."""
    subprocess.run(["git", "init", "-q", "--bare", str(host / "none")], check=True)
    env = {"PYTHON": sys.executable, "ATTN_DATA_REMOTE": str(host / "none"), "MACHINES": machines}
    code, calls = script(host, "plan", GITHUB_OUTPUT=str(host / "output"), **env)
    assert (code, calls) == (1, [])
    assert not (host / "output").exists()


def test_the_list_of_stacks_is_the_plans_own() -> None:
    """Jobs get it by the id of what was handed over: a GPU runner could replace the name."""
    night = {"artifact-ids": "${{ needs.plan.outputs.night }}", "path": "night"}
    for name in ("prebuild", "measure", "keep"):
        given = [step["with"] for step in JOBS[name]["steps"] if "with" in step]
        assert night in given, name
    assert JOBS["plan"]["outputs"]["night"] == "${{ steps.night.outputs.artifact-id }}"


@pytest.mark.parametrize(
    ("kept", "fail", "site"),
    [
        (["a100", "h200"], "", "success"),
        (["a100", "h200"], "site", "failure"),
        ([], "", "skipped"),
    ],
)
def test_the_site_is_of_all_machines(kept: list[str], fail: str, site: str, host: Path) -> None:
    """A night of one machine does not take the others off the site, nor one without rounds all."""
    data, work = host / "data.git", host / "work"
    for machine in kept:
        (work / "rounds" / machine).mkdir(parents=True)
        (work / "rounds" / machine / "x").write_text("")
    subprocess.run(["git", "init", "-q", "--bare", "-b", "attention-data", str(data)], check=True)
    if kept:
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid"]
        git += [f"--git-dir={data}", f"--work-tree={work}"]
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "Keep"], check=True)
    env = {"ATTN_DATA_REMOTE": str(data), "GITHUB_OUTPUT": str(host / "output")}
    code, calls = script(host, "judge", fail, MACHINES='["h200"]', **env)
    assert code == 0
    assert [call.split()[-1] for call in calls if call.startswith("site")] == [
        f"site/{machine}" for machine in kept
    ]
    assert f'"{site}"' in (host / "judged" / "site.json").read_text()
    shown = (host / "output").read_text().strip()
    assert shown == f"site={'true' if site == 'success' else 'false'}"


@pytest.mark.parametrize("fail", ["", "run"])
def test_only_new_rounds_are_handed_over(fail: str, host: Path) -> None:
    """Those that were there before stay where they are, also when measuring broke off."""
    script(host, "measure", fail, **NIGHT)
    assert script(host, "collect")[0] == 0
    handed = host / "measured" / "rounds"
    found = {p.relative_to(handed).as_posix() for p in handed.rglob("*") if p.is_file()}
    assert found == {"h200/v2/new.json.gz", "h200/v2/unrunnable.json"}


def test_a_night_that_never_began_hands_over_nothing(host: Path) -> None:
    """Collecting is no fault then."""
    assert script(host, "collect")[0] == 0
    assert not (host / "measured").exists()
