"""The ledger: the same repository everywhere."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.errors import UserError
from benchmarks.ledger import write_ledger
from tests.benchmarks.synthetic import stack

STACKS = (stack("v0.6.0", 1), stack("v0.6.1", 2), stack("v0.6.7.post1", 3))
# Checked against `git commit-tree` by hand.
GOLDEN = """\
commit a18a0194d309cebae963d7daaca4a7ec305b2bfc refs/heads/main
commit 1f9d9db2fe4b16072058bae546aac296b4190e19 refs/tags/v0.6.0
commit 37aee2459d4a7bb6da5415f21c7eacde6c9683cf refs/tags/v0.6.1
commit a18a0194d309cebae963d7daaca4a7ec305b2bfc refs/tags/v0.6.7.post1
"""


def refs(path: Path) -> str:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    command = [
        "git",
        "-C",
        str(path),
        "for-each-ref",
        "--format=%(objecttype) %(objectname) %(refname)",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=clean).stdout


def test_the_hashes_are_golden(tmp_path: Path) -> None:
    """A fixed list gives fixed commits, so that every machine names the same results."""
    assert refs(write_ledger(STACKS, tmp_path / "ledger")) == GOLDEN


def test_surroundings_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time zone, locale, git configuration and git variables leave no trace in the ledger."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[init]\n defaultBranch = trunk\n[commit]\n gpgsign = true\n[core]\n autocrlf = true\n"
        "[user]\n name = Somebody\n email = somebody@example.org\n"
    )
    variables = {
        "HOME": str(home),
        "TZ": "Asia/Tokyo",
        "LANG": "de_DE.UTF-8",
        "GIT_DIR": str(tmp_path / "elsewhere"),
        "GIT_AUTHOR_NAME": "Somebody",
        "GIT_COMMITTER_DATE": "2001-01-01T00:00:00Z",
        "GIT_DEFAULT_HASH": "sha256",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert refs(write_ledger(STACKS, tmp_path / "a" / "b" / "ledger")) == GOLDEN


def test_appending_a_stack_keeps_earlier_commits(tmp_path: Path) -> None:
    """A newer stack is a new commit on top: what was measured before keeps its name."""
    path = tmp_path / "ledger"
    before = refs(write_ledger(STACKS[:2], path)).splitlines()
    after = refs(write_ledger(STACKS, path)).splitlines()
    tags = [line for line in before if "refs/tags/" in line]
    assert len(tags) == 2
    assert set(tags) < set(after)


def test_an_unchanged_ledger_is_left_alone(tmp_path: Path) -> None:
    """Making the ledger again from the same list touches nothing."""
    path = write_ledger(STACKS, tmp_path / "ledger")
    made = path.stat().st_ino, (path / ".git" / "HEAD").stat().st_mtime_ns
    write_ledger(STACKS, path)
    assert (path.stat().st_ino, (path / ".git" / "HEAD").stat().st_mtime_ns) == made


def test_a_commit_holds_requirements_and_facts(tmp_path: Path) -> None:
    """Each commit has the hashed requirements and the tag, and nothing else."""
    path = write_ledger(STACKS, tmp_path / "ledger")
    assert sorted(p.name for p in path.iterdir()) == [".git", "requirements.txt", "stack.json"]
    assert (path / "requirements.txt").read_text() == STACKS[-1].requirements()
    assert '"tag": "v0.6.7.post1"' in (path / "stack.json").read_text()


def test_something_else_is_never_replaced(tmp_path: Path) -> None:
    """A directory that is no ledger is refused and stays as it is."""
    (tmp_path / "precious").write_text("x")
    with pytest.raises(UserError, match="is no ledger"):
        write_ledger(STACKS, tmp_path)
    assert (tmp_path / "precious").exists()


def lose_head(ledger: Path) -> None:
    (ledger / ".git" / "HEAD").unlink()


def lose_objects(ledger: Path) -> None:
    shutil.rmtree(ledger / ".git" / "objects")
    (ledger / ".git" / "objects").mkdir()


def lose_a_tag(ledger: Path) -> None:
    (ledger / ".git" / "refs" / "tags" / "v0.6.0").unlink()


def garble_the_stamp(ledger: Path) -> None:
    (ledger / ".git" / "stream.sha256").write_bytes(b"\xff")


def give_away(ledger: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root gives files to another user")
    for path in (ledger, *ledger.rglob("*")):
        os.chown(path, 12345, 12345)


@pytest.mark.parametrize(
    "damage", [lose_head, lose_objects, lose_a_tag, garble_the_stamp, give_away]
)
def test_a_damaged_ledger_is_made_again(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    """Lost files, and files that git refuses as another user's, are replaced by whole ones."""
    checkout = tmp_path / "checkout"
    subprocess.run(["git", "init", "--quiet", checkout], check=True)
    path = write_ledger(STACKS, checkout / "ledger")
    damage(path)
    write_ledger(STACKS, path)
    assert refs(path) == GOLDEN
    assert path.stat().st_uid == os.getuid()
    assert sorted(p.name for p in checkout.iterdir()) == [".git", "ledger"]


def test_a_ledger_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    """The error names the place and the remedy."""
    (tmp_path / "file").touch()
    with pytest.raises(
        UserError, match=r"cannot make the ledger: .*, remove .*/file/ledger"
    ) as caught:
        write_ledger(STACKS, tmp_path / "file" / "ledger")
    assert "\n" not in str(caught.value)
