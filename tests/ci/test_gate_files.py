"""What the files of the gate must never do, whatever act makes of them."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ci.act import ROOT
from tests.ci.pages import CALLER, DIRECT, KNOWN_LABELS, PAGE
from tests.test_workflows import ACTIONLINT, ZIZMOR, lint, load

GITHUB = ROOT / ".github"
GATE = GITHUB / "workflows" / "upgrade-gate.yml"
MEASURE = GITHUB / "actions" / "measure" / "action.yml"
ACTIONS = sorted(GITHUB.glob("actions/*/action.yml"))
SCRIPTS = sorted(GITHUB.glob("actions/**/*.sh"))
JOBS: dict[str, Any] = load(GATE)["jobs"]
CALL: dict[str, Any] = dict(load(GATE))[True]["workflow_call"]  # YAML 1.1 reads `on` as true
LABELS = ["-config-file", str(GITHUB / "actionlint.yaml")]


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in (*GITHUB.glob("workflows/*.yml"), *ACTIONS):
        loaded = load(path)
        jobs = loaded["jobs"].values() if "jobs" in loaded else [loaded["runs"]]
        yield from ((path.name, step) for job in jobs for step in job["steps"])


def test_no_shell_is_given_an_expression() -> None:
    """What comes from outside reaches a shell through the environment, never through its text."""
    assert [(name, step) for name, step in steps() if "${{" in step.get("run", "")] == []


def test_nothing_but_the_suite_is_checked_out() -> None:
    """Each checkout of the gate names the commit of the workflow itself, and keeps no token."""
    found = [step for job in JOBS.values() for step in job["steps"] if "checkout@" in str(step)]
    assert len(found) == len(JOBS)
    for step in found:
        assert step["with"] == {
            "repository": "${{ job.workflow_repository }}",
            "ref": "${{ job.workflow_sha }}",
            "persist-credentials": False,
        }
    fetching = re.compile(r"checkout@|\b(git|gh|curl|wget) ")
    assert [p.name for p in (*ACTIONS, *SCRIPTS) if fetching.search(p.read_text("utf-8"))] == []


def test_the_gpu_job_gets_pins_and_no_right_to_write() -> None:
    """It knows no secret, no token and nothing of the event."""
    job = JOBS["measure"]
    assert job["permissions"] == {"contents": "read"}
    told = str(job["steps"])
    for text in (told, *(p.read_text("utf-8") for p in MEASURE.parent.iterdir())):
        assert not re.search(r"secrets\.|github\.token|GITHUB_TOKEN|github\.event|head_ref", text)
    pins = {"needs.pins.outputs.base", "needs.pins.outputs.head"}
    assert set(re.findall(r"needs\.[\w.]+", told)) == pins


def test_only_the_report_may_write() -> None:
    """Rights are those of the job that needs them; the caller grants their sum and no secret."""
    writing = {name for name, job in JOBS.items() if "write" in job["permissions"].values()}
    assert writing == {"report"}
    needed = {name: right for job in JOBS.values() for name, right in job["permissions"].items()}
    caller = yaml.safe_load(CALLER)["jobs"]["gate"]
    assert caller["permissions"] == {**needed, **JOBS["report"]["permissions"]}
    assert "secrets" not in {*CALL, *caller}


def test_measuring_waits_for_the_word_of_pins() -> None:
    """The GPU job runs only if pins were read and differ; reporting runs after it whatever."""
    assert JOBS["measure"]["needs"] == ["pins"]
    assert JOBS["measure"]["if"] == "needs.pins.outputs.measure == 'true'"
    assert JOBS["report"]["needs"] == ["pins", "measure"]
    assert "!cancelled()" in JOBS["report"]["if"]
    assert all(job["timeout-minutes"] for job in JOBS.values())


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.name)
def test_a_script_stops_at_the_first_failure(path: Path) -> None:
    """Scripts are strict, right in syntax, and expand nothing twice."""
    text = path.read_text("utf-8")
    assert "\nset -euo pipefail\n" in text
    assert not re.search(r"\beval\b|\bsource\b|bash -c", text)
    bash = shutil.which("bash")
    assert bash
    assert subprocess.run([bash, "-n", str(path)], check=False).returncode == 0


def test_the_page_names_every_input_and_output() -> None:
    """The table of the page is that of the workflow."""
    rows = re.findall(r"^\| `([\w-]+)` \| (?:`(.*?)`)? ?\|", PAGE, re.MULTILINE)
    assert dict(rows) == {name: str(told["default"]) for name, told in CALL["inputs"].items()}
    assert [name for name in CALL["outputs"] if f"`{name}`" not in PAGE] == []


def lint_text(linter: list[str], text: str, folder: Path) -> tuple[int, str]:
    """Return what a linter says of a workflow that stands in a repository of its own."""
    path = folder / ".github" / "workflows" / "attention.yml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return lint(linter, path)


@pytest.mark.parametrize(
    ("text", "settings"), [(CALLER, ""), (DIRECT, KNOWN_LABELS)], ids=["gate", "measure"]
)
def test_what_the_page_shows_is_short_and_clean(text: str, settings: str, tmp_path: Path) -> None:
    """About ten lines, and both linters are content with what the page says of them."""
    assert len(text.splitlines()) <= 11
    config = tmp_path / "actionlint.yaml"
    config.write_text(settings, "utf-8")
    actionlint = [*ACTIONLINT, "-config-file", str(config)]
    assert lint_text(actionlint, text, tmp_path) == (0, "")
    usual = [word for word in ZIZMOR if not word.startswith("--persona")]
    code, says = lint_text(usual, text, tmp_path)
    assert code == 0, says


def test_the_page_needs_the_reason_that_it_gives(tmp_path: Path) -> None:
    """Without it zizmor warns of `pull_request_target`."""
    code, says = lint_text(ZIZMOR, re.sub(r" # zizmor: .*", "", CALLER), tmp_path)
    assert code != 0
    assert "[dangerous-triggers]" in says


@pytest.mark.parametrize(
    ("linter", "path", "good", "bad", "told"),
    [
        (ACTIONLINT, GATE, "pins.outputs.measure ==", "pins.outputs.mesure ==", '"mesure" is not'),
        (ACTIONLINT, GATE, "needs: [pins, measure]", "needs: [pins]", '"measure" is not defined'),
        (ACTIONLINT, GATE, "tier: ${{ inputs.tier", "tear: ${{ inputs.tier", '"tear" is not'),
        (ZIZMOR, GATE, "persist-credentials: false", "persist-credentials: true", "[artipacked]"),
        (ZIZMOR, GATE, "permissions: {}", "permissions: write-all", "[excessive-permissions]"),
        (ZIZMOR, GATE, "  workflow_call:", "  pull_request_target:", "[dangerous-triggers]"),
        (
            ZIZMOR,
            MEASURE,
            'run: bash "$GITHUB_ACTION_PATH/measure.sh"',
            "run: measure ${{ inputs.base }}",
            "[template-injection]",
        ),
    ],
)
def test_a_fault_planted_in_the_gate_is_found(  # noqa: PLR0913, PLR0917 - a table of cases
    linter: list[str], path: Path, good: str, bad: str, told: str, tmp_path: Path
) -> None:
    """The linter that is there for it names each."""
    text = path.read_text("utf-8")
    assert good in text
    shutil.copytree(GITHUB, tmp_path / ".github")
    (tmp_path / ".git").mkdir()  # that is how actionlint finds the actions of a repository
    config = LABELS if linter is ACTIONLINT else ["--config", str(GITHUB / "zizmor.yml")]
    planted = tmp_path / path.relative_to(ROOT)
    assert lint([*linter, *config], planted)[0] == 0
    planted.write_text(text.replace(good, bad), "utf-8")
    code, says = lint([*linter, *config], planted)
    assert code != 0
    assert told in says
