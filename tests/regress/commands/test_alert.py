"""The command `alert` against a made-up GitHub, and without one."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from regress.cli import main
from regress.store.tree import RECORDED
from tests.regress.builders import CASE, MACHINE, rounds_of, write_rounds
from tests.support.github_api import GithubApi, serve
from tests.support.github_world import Fault, Repository, World

QUIET = (100.0, 100.1, 99.9, 100.2, 99.8)
SLOW = tuple(v * 1.1 for v in QUIET)
NIGHT = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)


def add_night(root: Path, days_ago: int, times: tuple[float, ...]) -> str:
    """Write a night's rounds, and return when it began."""
    began = NIGHT - timedelta(days=days_ago)
    rounds = rounds_of("v1", {CASE: times})
    write_rounds(
        root,
        (
            msgspec.structs.replace(
                r,
                id=f"{days_ago}-{number}",
                campaign=f"night-{days_ago}",
                started_at=(began + timedelta(minutes=number)).isoformat(),
            )
            for number, r in enumerate(rounds)
        ),
    )
    return began.isoformat()


@pytest.fixture
def repo() -> Repository:
    return Repository()


@pytest.fixture
def api(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Iterator[GithubApi]:
    with serve(World({"acme/suite": repo}, login="github-actions[bot]")) as running:
        monkeypatch.setenv("GITHUB_API_URL", running.url)
        monkeypatch.setenv("GITHUB_TOKEN", "secret")
        yield running


def words(root: Path, since: str, *more: str) -> list[str]:
    machines = json.dumps([MACHINE.name])
    return ["alert", "--rounds", str(root), "--machines", machines, "--since", since, *more]


ON = ("--repository", "acme/suite")
LATE = ("--within-days", "9", *ON)


@pytest.mark.usefixtures("api")
def test_a_regression_lives_from_night_to_night(
    tmp_path: Path, repo: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Opened when the host is slow, still there when it stays so, closed when it is fast again."""
    add_night(tmp_path, 4, QUIET)
    assert main(words(tmp_path, add_night(tmp_path, 3, SLOW), *LATE)) == 1
    assert "opened #1: synthetic got slower: 1 of 1 cases of v1" in capsys.readouterr().out
    assert main(words(tmp_path, add_night(tmp_path, 2, SLOW), *LATE)) == 1
    assert "refreshed #1" in capsys.readouterr().out
    assert main(words(tmp_path, add_night(tmp_path, 1, QUIET), *LATE)) == 0
    assert "closed #1: Over since" in capsys.readouterr().out
    assert main(words(tmp_path, add_night(tmp_path, 0, QUIET), *LATE)) == 0
    assert capsys.readouterr().out == "nothing to tell\n"
    assert [(i.number, i.state) for i in repo.issues] == [(1, "closed")]
    assert len(repo.comments) == 1


@pytest.mark.usefixtures("api")
def test_a_release_is_told_until_another_takes_it_back(tmp_path: Path, repo: Repository) -> None:
    """From the recorded rounds: `auto` on fa3 got worse in 0.6.0, and well again in 0.6.4."""
    machine, told = tmp_path / "rounds" / "h200", tmp_path / "h200.json"
    machine.mkdir(parents=True)
    since = ("--since", "2026-11-29T17:20Z", "--within-days", "99999", "--machines", '["h200"]')
    codes = []
    for tags in (("v0.5.3", "v0.6.0", "v0.6.1", "v0.6.3"), ("v0.6.4",)):
        for tag in tags:
            (machine / tag).symlink_to(RECORDED / "h200" / tag)
        rounds = ("--rounds", str(machine.parent))
        main(["history", *rounds, "--format", "json", "--output", str(told)])
        codes.append(main(["alert", *rounds, *since, "--history", str(told), *ON]))
    (slower,) = (i for i in repo.issues if "the backend resolves to fa3, was fa2" in i.body)
    assert codes[0] == 1
    assert slower.title.startswith("v0.6.0: REGRESSION of ")
    assert (slower.labels, slower.state) == (["attention-alert", "attention-regression"], "closed")
    told_by = [c.body for c in repo.comments if c.issue == slower.number]
    assert [body.endswith("v0.6.4 took it back.") for body in told_by] == [True]


@pytest.mark.usefixtures("api")
def test_signals_have_codes_of_their_own(tmp_path: Path, repo: Repository) -> None:
    """4 for missing data, 1 for a regression, and 2 for a failed job, which beats both."""
    late = add_night(tmp_path, 5, QUIET)
    assert main(words(tmp_path, late, *ON)) == 4
    since = add_night(tmp_path, 0, SLOW)
    assert main(words(tmp_path, since, *ON)) == 1
    needs = tmp_path.parent / "needs.json"
    needs.write_text('{"measure": {"result": "failure"}}')
    assert main(words(tmp_path, since, "--needs", str(needs), *ON)) == 2
    assert [(i.labels[1], i.state) for i in repo.issues] == [
        ("attention-data-missing", "closed"),
        ("attention-regression", "open"),
        ("attention-job-failed", "open"),
    ]


def test_without_a_repository_it_only_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same codes, and no connection to anywhere."""
    add_night(tmp_path, 1, QUIET)
    assert main(words(tmp_path, add_night(tmp_path, 0, SLOW))) == 1
    assert capsys.readouterr().out.startswith("regression: synthetic got slower: 1 of 1 cases")


@pytest.mark.usefixtures("api")
def test_a_muted_alert_does_not_fail(tmp_path: Path, repo: Repository) -> None:
    """What somebody closed as not planned is known."""
    add_night(tmp_path, 1, QUIET)
    since = add_night(tmp_path, 0, SLOW)
    assert main(words(tmp_path, since, *ON)) == 1
    repo.issues[0].state, repo.issues[0].state_reason = "closed", "not_planned"
    assert main(words(tmp_path, since, *ON)) == 0


def test_a_log_is_quoted_if_a_job_failed(tmp_path: Path, api: GithubApi, repo: Repository) -> None:
    """Its last lines stand in the issue; a log that was never written is no fault."""
    log = tmp_path / "measured-h200" / "log.txt"
    log.parent.mkdir()
    log.write_text("first\n" + "more\n" * 9 + "error busy: on the GPU: python (7)\n\n")
    needs = tmp_path / "needs.json"
    needs.write_text('{"measure": {"result": "failure"}}')
    rounds = tmp_path / "rounds"
    since = add_night(rounds, 0, QUIET)
    logs = ("--log", str(log), "--log", str(tmp_path / "none.txt"))
    assert main(words(rounds, since, "--needs", str(needs), *logs, *ON)) == 2
    assert "- measured-h200/log.txt: error busy: on the GPU: python (7)" in repo.issues[0].body
    assert "first" not in repo.issues[0].body
    assert {request.token for request in api.requests} == {"secret"}


def test_what_is_told_commands_no_runner(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The name of a machine or of a stack is no line for the log's reader to obey."""
    machines = json.dumps(["x ##[add-mask]y\n::error::z"])
    words = ["alert", "--rounds", str(tmp_path), "--since", NIGHT.isoformat()]
    assert main([*words, "--machines", machines]) == 4
    shown = capsys.readouterr().out
    assert (shown.count("\n"), "##[" in shown) == (1, False)


def test_a_github_that_is_down_is_no_missing_data(
    tmp_path: Path, api: GithubApi, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line and exit 2: the signals are not known to anybody."""
    api.world.faults.append(Fault("/repos/", status=404, times=99, message="Not Found"))
    assert main(words(tmp_path, add_night(tmp_path, 0, QUIET), *ON)) == 2
    err = capsys.readouterr().err
    assert "GitHub refuses the repository acme/suite" in err
    assert err.count("\n") == 1


def test_a_network_that_is_down_is_no_missing_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the client calls data that is not there is not the data of a machine."""
    monkeypatch.setattr("regress.github.client._TRIES", 0)
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    assert main(words(tmp_path, add_night(tmp_path, 0, QUIET), *ON)) == 2
    assert "alerts are not told: GitHub does not answer" in capsys.readouterr().err


@pytest.mark.parametrize("machines", ["h200", "[]", "[1]", '{"a": 1}', '[""]'])
def test_machines_are_a_list_of_names(
    machines: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that watches no machine would find nothing, ever."""
    with pytest.raises(SystemExit) as caught:
        main(["alert", "--rounds", str(tmp_path), "--machines", machines, "--since", "2026-01-01"])
    assert caught.value.code == 2
    assert "is no JSON list of names" in capsys.readouterr().err


def test_a_folder_that_is_missing_is_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not taken for one without rounds."""
    assert main(words(tmp_path / "none", "2026-01-01")) == 2
    assert "none is no folder" in capsys.readouterr().err
