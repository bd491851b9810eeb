"""Writing lists of stacks, and ad-hoc stacks."""

import errno
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.adhoc import make_from_git, make_from_wheel, sha256_of
from benchmarks.errors import UserError
from benchmarks.stackfile import add_stack
from benchmarks.stacks import parse_stacks
from tests.benchmarks.synthetic import stack, wheel

METADATA = "lib.dist-info/METADATA"
HEADER = "# What can be measured.\n\n"


def archive(path: Path, member: str = METADATA) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(member, "Name: lib")
    return path


def test_stacks_land_at_their_place_in_time(tmp_path: Path) -> None:
    """The order of adding does not matter: the file is the same, comments intact."""
    texts = []
    for order in ((1, 2, 3), (3, 1, 2)):
        path = tmp_path / f"list{order}.toml"
        path.write_text(HEADER)
        for day in order:
            add_stack(path, stack(f"v{day}", day))
        texts.append(path.read_text())
        assert [s.tag for s in parse_stacks(texts[-1], "list")] == ["v1", "v2", "v3"]
        assert texts[-1].startswith(f'{HEADER}[[stack]]\ntag = "v1"\n')
    tables = [text.partition("[[release]]")[0] for text in texts]
    assert tables[0] == tables[1]


def test_a_stack_is_written_as_it_is_read(tmp_path: Path) -> None:
    """Pins, wheels, CUDA, time and local paths survive the file."""
    path = tmp_path / "deep" / "list.toml"
    pins = {"a": "1", "b": "2"}
    wheels = {"a": (wheel("a", "1"),), "b": (wheel("b", "2", "b", path="/somewhere/b.whl"),)}
    written = replace(stack("mine"), pins=pins, wheels=wheels, cuda={"a": "13"}, ad_hoc=True)
    add_stack(path, written)
    assert parse_stacks(path.read_text(), "list", ad_hoc=True) == (written,)


def test_a_shared_release_is_written_once(tmp_path: Path) -> None:
    """Two stacks with one pin share its wheels."""
    path = tmp_path / "list.toml"
    for day in (1, 2):
        add_stack(path, stack(f"v{day}", day, {"lib": "1", "other": str(day)}))
    assert path.read_text().count('name = "lib"') == 1


def test_a_release_never_changes(tmp_path: Path) -> None:
    """A stack with other wheels for a known release is refused and the file stays."""
    path = tmp_path / "list.toml"
    add_stack(path, stack("v1", 1, {"lib": "1"}))
    before = path.read_text()
    other = replace(stack("v2", 2, {"lib": "1"}), wheels={"lib": (wheel("lib", "1", "f"),)})
    with pytest.raises(UserError, match="a release never changes"):
        add_stack(path, other)
    assert path.read_text() == before


def test_a_list_that_cannot_be_written_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the list, which stays as it is, and nothing is left beside it."""
    path = tmp_path / "list.toml"
    add_stack(path, stack("v1", 1))
    before = path.read_text()

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "elsewhere")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(UserError, match=r"^cannot write .*/list\.toml: Permission denied$"):
        add_stack(path, stack("v2", 2))
    assert path.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["list.toml"]


def test_an_adhoc_stack_takes_over_the_other_pins(tmp_path: Path) -> None:
    """A wheel replaces its own pin of the base stack; the rest is kept."""
    own = archive(tmp_path / "lib-2.0+mine-py3-none-any.whl")
    base = replace(stack("v1", 1, {"lib": "1", "other": "3"}), cuda={"lib": "13", "other": "13"})
    made = make_from_wheel("mine", own, base)
    assert dict(made.pins) == {"lib": "2.0+mine", "other": "3"}
    assert made.wheels["lib"][0].path == str(own)
    assert made.wheels["lib"][0].sha256 == sha256_of(own)
    assert made.wheels["other"] == base.wheels["other"]
    assert dict(made.cuda) == {"other": "13"}
    assert made.ad_hoc


def test_what_is_no_wheel(tmp_path: Path) -> None:
    """A missing file, a file that is no wheel and an unfit tag are each one line."""
    with pytest.raises(UserError, match="there is no wheel"):
        make_from_wheel("mine", tmp_path / "none.whl", None)
    (tmp_path / "lib.zip").write_bytes(b"")
    with pytest.raises(UserError, match="is no wheel file name"):
        make_from_wheel("mine", tmp_path / "lib.zip", None)
    own = tmp_path / "lib-1-py3-none-any.whl"
    own.write_bytes(b"wheel")
    with pytest.raises(UserError, match="is no wheel: File is not a zip file"):
        make_from_wheel("mine", own, None)
    with pytest.raises(UserError, match="is no wheel: it has no METADATA"):
        make_from_wheel("mine", archive(own, "lib/__init__.py"), None)
    with pytest.raises(UserError, match="cannot name a stack"):
        make_from_wheel("not fit", own, None)


def test_a_commit_that_cannot_be_fetched_is_one_line(tmp_path: Path) -> None:
    """The error of a build is git's own complaint."""
    with pytest.raises(UserError, match="is no URL@COMMIT"):
        make_from_git("mine", "https://host.invalid/repository", None, tmp_path)
    with pytest.raises(UserError, match=r"cannot build a wheel of .*: fatal: ") as caught:
        make_from_git("mine", f"{tmp_path}/nothing@abc", None, tmp_path)
    assert "\n" not in str(caught.value)
