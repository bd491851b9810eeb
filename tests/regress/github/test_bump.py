"""The command `bump`: a pull request read through the API, and what leaves that step."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from regress.cli import main
from regress.github.marks import CONTEXT, digest_of
from regress.model.bump import Bump
from regress.pins.files import GLOBS
from tests.regress.github.worlds import BASE, GATE, HEAD, NAME, OLDER, PINS, world
from tests.support.github_api import GithubApi, serve
from tests.support.github_world import Event, Fault, Repository, Status, World

MOVED = digest_of(
    ("flashinfer-python==0.6.0", "fa3-fwd==0.0.3"), ("flashinfer-python==0.6.1", "fa3-fwd==0.0.3")
)
"""Of the pins that `world` changes."""


class Ran(NamedTuple):
    """What a run of the command gave."""

    code: int
    bump: Bump | None
    outputs: dict[str, str]
    api: GithubApi


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command on a world."""

    def _run(made_up: World, *more: str, head: str = HEAD) -> Ran:
        file, outputs = tmp_path / "bump.json", tmp_path / "outputs"
        arguments = ["bump", "--repository", NAME, "--pull", "7", "--head", head, *more]
        arguments += ["--output", str(file), "--github-output", str(outputs)]
        with serve(made_up) as api:
            monkeypatch.setenv("GITHUB_API_URL", api.url)
            monkeypatch.setenv("GITHUB_TOKEN", "made-up")
            code = main(arguments)
        bump = msgspec.json.decode(file.read_bytes(), type=Bump) if file.exists() else None
        lines = outputs.read_text().splitlines() if outputs.exists() else []
        return Ran(code, bump, dict(line.split("=", 1) for line in lines), api)

    return _run


def repository(made_up: World) -> Repository:
    return made_up.repositories[NAME]


def labelled(made_up: World, label: str, login: str, minute: int, marks: dict[int, str]) -> World:
    """Return the world with a label set, and with the gate's marks on the head, by minute."""
    pull = repository(made_up).pulls[0]
    pull.labels.append(label)
    event = Event("labeled", login, label, created_at=f"2026-01-01T10:{minute:02}:00Z")
    repository(made_up).events["7"] = [event]
    repository(made_up).statuses = [
        Status(HEAD, state, CONTEXT, f"said [{MOVED}]", created_at=f"2026-01-01T10:{at:02}:00Z")
        for at, state in marks.items()
    ]
    return made_up


def test_an_upgrade_is_measured(run: Any) -> None:
    """Validated pins of both sides are the only outputs; nothing is written to GitHub."""
    ran = run(world())
    assert ran.code == 0
    assert ran.outputs == {
        "measure": "true",
        "base": "flashinfer-python==0.6.0 fa3-fwd==0.0.3",
        "head": "flashinfer-python==0.6.1 fa3-fwd==0.0.3",
    }
    assert (ran.bump.base_sha, ran.bump.head_sha, ran.bump.state) == (BASE, HEAD, "measure")
    assert {r.method for r in ran.api.requests if r.path != "/graphql"} == {"GET"}


def test_no_pin_changed(run: Any) -> None:
    """Without a change of pins no file is even read, when no file of pins changed."""
    made_up = world()
    repository(made_up).trees[HEAD] = {**repository(made_up).trees[BASE], "setup.py": "other"}
    ran = run(made_up)
    assert (ran.code, ran.bump.state, ran.outputs) == (0, "unchanged", {"measure": "false"})
    assert ran.api.sent("GET", "/git/blobs/") == []


def test_base_is_where_the_branches_parted(run: Any) -> None:
    """What the base branch did meanwhile is not held against the pull request."""
    made_up = world(merge_base=OLDER)
    repository(made_up).trees[OLDER] = {PINS: "flashinfer-python==0.5.3\n"}
    ran = run(made_up)
    assert (ran.bump.base_sha, ran.outputs["base"]) == (OLDER, "flashinfer-python==0.5.3")


@pytest.mark.parametrize(
    ("pull", "code"),
    [
        ({"state": "closed"}, "closed"),
        ({"draft": True}, "draft"),
        ({"head_sha": OLDER}, "superseded"),
    ],
)
def test_set_aside(run: Any, pull: dict[str, Any], code: str) -> None:
    """Closed ones, drafts and commits that are no longer the head are skipped."""
    ran = run(world(**pull))
    assert (ran.code, ran.bump.state, ran.bump.reason.code) == (0, "skipped", code)
    assert ran.outputs == {"measure": "false"}


@pytest.mark.parametrize(
    "version",
    [
        "0.6.1; touch /tmp/x",
        "$(touch x)",
        "`id`",
        "${{ github.token }}",
        "0.6.1\u200bhead=evil",
        "0.6.1\x1b[31m",
        "0.6.1##[add-mask]0",
        "1 ::error::x",
        "../../etc",
    ],
)
def test_injection_is_refused(run: Any, capfd: Any, version: str) -> None:
    """What is no version is never an output, ends with exit code 2, and is shown harmlessly."""
    ran = run(world(head=f"flashinfer-python=={version}\n"))
    assert (ran.code, ran.bump.state, ran.bump.reason.code) == (2, "refused", "bad-version")
    assert ran.outputs == {"measure": "false"}
    shown = capfd.readouterr().out
    assert "##[" not in shown
    assert "\x1b" not in shown
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())


def test_file_names_are_text(run: Any, capfd: Any) -> None:
    """A path may be an attack, too."""
    name = "x\n::add-mask::0.6\n##[error]/requirements.txt"
    made_up = world(base={name: "fa3-fwd==0.0.2"}, head={name: "fa3-fwd==0.0.3"})
    assert run(made_up).outputs["head"] == "fa3-fwd==0.0.3"
    shown = capfd.readouterr().out
    assert "##[" not in shown
    assert "\n::" not in shown


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"base64": "AAEC"}, "no text"),
        ({"size": 11 * 1024 * 1024}, "no file of pins"),
    ],
)
def test_unreadable_files(run: Any, content: dict[str, Any], told: str) -> None:
    """A file of pins that became binary or huge is refused, not taken for one without pins."""
    ran = run(world(head={PINS: content}))
    assert (ran.code, ran.bump.reason.code) == (2, "unreadable")
    assert told in ran.bump.reason.message


def test_links_and_submodules_are_no_files(run: Any) -> None:
    """A file of pins that became a link or a submodule is gone."""
    for content in ({"symlink": "/etc/passwd"}, {"submodule": OLDER}):
        ran = run(world(head={PINS: content}))
        assert (ran.code, ran.bump.reason.code) == (0, "one-sided")


def test_damaged_toml_is_refused(run: Any) -> None:
    """A pyproject.toml that cannot be parsed is named."""
    ran = run(world(base={"pyproject.toml": ""}, head={"pyproject.toml": "[x"}))
    assert (ran.code, ran.bump.reason.code) == (2, "unreadable")
    assert "pyproject.toml is no TOML" in ran.bump.reason.message


def test_many_files(run: Any) -> None:
    """More than the API lists as changed are no trouble; more files of pins than make sense are."""
    many = {f"src/{n}.py": str(n) for n in range(400)}
    made_up = world(base={PINS: "fa3-fwd==0.0.2"}, head={**many, PINS: "fa3-fwd==0.0.3"})
    assert run(made_up).outputs["head"] == "fa3-fwd==0.0.3"
    pins = {f"{n}/requirements.txt": "fa3-fwd==0.0.3" for n in range(201)}
    ran = run(world(base={PINS: "fa3-fwd==0.0.2"}, head=pins))
    assert (ran.code, ran.bump.reason.code) == (2, "unreadable")


def test_repository_too_large_to_list(run: Any, capfd: Any) -> None:
    """Paths are walked to where the API does not list everything; globs are refused."""
    files = ["docker/gpu/requirements.txt", "no/such/file.txt"]
    made_up = world(base={files[0]: "fa3-fwd==0.0.2"}, head={files[0]: "fa3-fwd==0.0.3"})
    repository(made_up).truncated = [BASE, HEAD]
    ran = run(made_up, "--pins", files[0], "--pins", files[1])
    assert ran.outputs["head"] == "fa3-fwd==0.0.3"
    assert run(made_up).code == 2
    assert f"too large to look for {GLOBS[3]}" in capfd.readouterr().err


def test_own_files_and_patterns(run: Any) -> None:
    """Other files and other ways of writing are options."""
    base, head = ({"ci/versions.env": f"FI=v{version}\n"} for version in ("0.6.0", "0.6.1"))
    more = ("--pins", "versions.env", "--pattern", r"flashinfer-python=^FI=(\S+)$")
    assert run(world(base, head), *more).outputs["head"] == "flashinfer-python==0.6.1"
    assert run(world(base, head)).bump.state == "unchanged"


def test_fork_waits_for_the_label(run: Any) -> None:
    """A fork's pins are not measured, whether or not the fork still exists."""
    for fork in ("stranger/engine", ""):
        ran = run(world(head_repo=fork))
        assert (ran.code, ran.bump.reason.code) == (0, "needs-label")
        assert ran.outputs == {"measure": "false"}


@pytest.mark.parametrize(
    ("login", "marks", "note"),
    [
        ("pusher", {1: "pending"}, None),
        ("keeper", {1: "failure"}, None),
        ("helper", {1: "pending"}, "role read"),
        ("stranger", {1: "pending"}, "role none"),
        ("", {1: "pending"}, "deleted user"),
        ("pusher", {2: "pending"}, "set it again"),
        ("pusher", {3: "pending"}, "set it again"),
        ("pusher", {}, "set it again"),
    ],
)
def test_label_of_a_fork(run: Any, login: str, marks: dict[int, str], note: str | None) -> None:
    """It counts if somebody who may push set it after the gate had marked this very commit."""
    made_up = labelled(world(head_repo="stranger/engine"), "attention-gate-run", login, 2, marks)
    bump = run(made_up).bump
    if note:
        assert bump.state == "skipped"
        assert note in bump.notes[0]
    else:
        assert (bump.state, bump.notes) == ("measure", ())
        assert (bump.authorised.login, bump.authorised.sha) == (login, HEAD)


@pytest.mark.parametrize(
    ("login", "minute", "marks", "state"),
    [
        ("keeper", 2, {1: "failure"}, "accepted"),
        ("owner", 3, {1: "pending", 2: "failure"}, "accepted"),
        ("keeper", 2, {1: "failure", 3: "success"}, "accepted"),
        ("pusher", 2, {1: "failure"}, "measure"),
        ("stranger", 2, {1: "failure"}, "measure"),
        ("keeper", 2, {1: "pending"}, "measure"),
        ("keeper", 2, {1: "error"}, "measure"),
        ("keeper", 3, {1: "failure", 2: "success"}, "measure"),
        ("keeper", 2, {3: "failure"}, "measure"),
    ],
)
def test_label_that_accepts(
    run: Any, login: str, minute: int, marks: dict[int, str], state: str
) -> None:
    """It counts if a maintainer set it after this very commit was found to be a regression."""
    ran = run(labelled(world(), "attention-regression-accepted", login, minute, marks))
    assert (ran.code, ran.bump.state) == (0, state)
    if state == "accepted":
        given = ran.bump.accepted
        assert (given.login, given.sha, given.at) == (
            login,
            HEAD,
            f"2026-01-01T10:0{minute}:00+00:00",
        )
        assert ran.outputs == {"measure": "false"}
    else:
        assert "does not count" in ran.bump.notes[0]


def test_label_of_other_pins_or_by_others_marks(run: Any) -> None:
    """Marks of somebody else, of another context, or about other pins are none."""
    for change in ({"login": "stranger"}, {"context": "x"}, {"description": "[0123456789ab]"}):
        made_up = labelled(world(), "attention-regression-accepted", "keeper", 2, {1: "failure"})
        for key, value in change.items():
            setattr(repository(made_up).statuses[0], key, value)
        assert run(made_up).bump.state == "measure"


def test_label_that_was_taken_away(run: Any) -> None:
    """Only a label that the pull request still has counts."""
    made_up = labelled(world(), "attention-regression-accepted", "keeper", 2, {1: "failure"})
    repository(made_up).pulls[0].labels.clear()
    assert run(made_up).bump.state == "measure"


def test_login_is_the_tokens_unless_named(run: Any) -> None:
    """Marks are those of whose token it is, or of who is named."""
    made_up = labelled(world(), "attention-regression-accepted", "keeper", 2, {1: "failure"})
    made_up.login = "reader[bot]"
    assert run(made_up).bump.state == "measure"
    assert run(made_up, "--login", GATE).bump.state == "accepted"


@pytest.mark.parametrize(
    ("fault", "code", "told"),
    [
        (Fault("/pulls/", status=502, times=1), 0, ""),
        (Fault("/pulls/", 403, 1, headers={"Retry-After": "0"}), 0, ""),
        (Fault("/pulls/", status=429, times=1), 0, ""),
        (Fault("/pulls/", 404, 9), 2, "regress: GitHub refuses pull request 7 of acme/engine (404"),
        (Fault("/git/trees/", 403, 9, message="Forbidden"), 2, "(403 Forbidden): see whether"),
        (
            Fault("/pulls/", 403, 9, headers={"X-RateLimit-Reset": "99999999999"},
                  message="API rate limit exceeded for x"),
            4,
            "GitHub's limit of requests is reached",
        ),
        (Fault("/graphql", status=200, times=9), 4, "not as documented"),
        (Fault("/pulls/", status=200, times=9), 4, "not as documented"),
        (Fault("/git/blobs/", status=200, times=9), 4, "not as documented"),
    ],
)  # fmt: skip
def test_api_trouble(run: Any, capfd: Any, fault: Fault, code: int, told: str) -> None:
    """What passes is tried again; what does not is one line, and missing data is not a pass."""
    made_up = world()
    made_up.faults = [fault]
    assert run(made_up).code == code
    error = capfd.readouterr().err
    assert told in error
    assert error.count("\n") == (1 if told else 0)


def test_server_errors_end(run: Any, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Server errors that last end with exit code 4."""
    monkeypatch.setattr("regress.github.client._TRIES", 1)
    made_up = world()
    made_up.faults = [Fault("/pulls/", status=502, times=9)]
    assert run(made_up).code == 4
    assert "re-run the job" in capfd.readouterr().err


def test_no_wait_outlasts_the_job(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever GitHub asks for, a pause is a minute at most: then the job can still say why."""
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    monkeypatch.setattr("regress.github.client._TRIES", 2)
    made_up = world()
    made_up.faults = [Fault("/pulls/", 429, 9, headers={"Retry-After": "5000"})]
    assert run(made_up).code == 4
    assert pauses == [60, 60]


def test_answer_that_is_cut_off(run: Any, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half an answer is one line and exit code 4, not an error of this program."""
    whole = msgspec.json.encode
    monkeypatch.setattr("msgspec.json.encode", lambda body: whole(body)[:-1])
    assert run(world()).code == 4
    assert "not as documented" in capfd.readouterr().err


def test_no_network(tmp_path: Path) -> None:
    """Without an answer it is one line and exit code 4, as a process too."""
    program = [sys.executable, "-c", _IMPATIENT, "bump", "--repository", NAME, "--pull", "7"]
    done = subprocess.run(
        [*program, "--output", str(tmp_path / "bump.json")],
        env={**os.environ, "GITHUB_API_URL": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert "GitHub does not answer" in done.stderr


_IMPATIENT = (
    "import sys; from regress.github import client; client._TRIES = 0; "
    "from regress.cli import main; sys.exit(main())"
)


@pytest.mark.parametrize(
    "wrong", [("--head", "main"), ("--repository", "x"), ("--pattern", "x"), ("--pull", "x")]
)
def test_wrong_options(tmp_path: Path, capfd: Any, wrong: tuple[str, str]) -> None:
    """Options that mean nothing are refused before GitHub is asked."""
    usual = ["--repository", NAME, "--pull", "7", "--output", str(tmp_path / "x")]
    try:
        code = main(["bump", *usual, *wrong])
    except SystemExit as end:
        code = int(str(end.code))
    assert code == 2
    assert wrong[0] in capfd.readouterr().err


def test_bump_of_another_job_is_validated() -> None:
    """Whoever reads the file again gets pins and commits, or an error."""
    good = {"schema": 1, "repository": NAME, "pull": 7, "base_sha": BASE, "head_sha": HEAD,
            "state": "measure", "reason": {"code": "changed", "message": ""}}  # fmt: skip
    for bad in ({"head_pins": ["x==1; id"]}, {"head_sha": "main"}, {"base_pins": ["x==1\ny"]}):
        with pytest.raises(msgspec.ValidationError, match="no pin or commit"):
            msgspec.json.decode(json.dumps({**good, **bad}), type=Bump)
