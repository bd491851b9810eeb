"""Finding round files, and choosing a machine."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from regress.errors import NoDataError, UsageError
from regress.store.tree import Tree, is_folder, load_known_tags, scan
from tests.regress.builders import CASE, MACHINE, make_round, measured, write_rounds


def _tree(root: Path, *places: tuple[str, str]) -> Tree:
    for machine, tag in places:
        where = msgspec.structs.replace(MACHINE, name=machine)
        write_rounds(root, [make_round(tag, 0, [measured(CASE, 1.0)], machine=where)])
    return scan([root])


def test_the_only_fitting_machine_is_chosen(tmp_path: Path) -> None:
    """If one machine has both stacks it needs no naming."""
    tree = _tree(tmp_path, ("a", "v1"), ("a", "v2"), ("b", "v1"))
    assert tree.choose_machine(("v1", "v2"), None, frozenset()) == "a"


def test_several_machines_must_be_chosen_from(tmp_path: Path) -> None:
    """If several fit, the user chooses."""
    tree = _tree(tmp_path, ("a", "v1"), ("a", "v2"), ("b", "v1"), ("b", "v2"))
    with pytest.raises(UsageError, match="--machine a or b"):
        tree.choose_machine(("v1", "v2"), None, frozenset())
    assert tree.choose_machine(("v1", "v2"), "b", frozenset()) == "b"


def test_unknown_machine_is_usage(tmp_path: Path) -> None:
    """A machine without rounds is named with those that have some."""
    with pytest.raises(UsageError, match="no rounds of a machine 'z': there are a"):
        _tree(tmp_path, ("a", "v1")).choose_machine(("v1",), "z", frozenset())


def test_unknown_tag_is_usage_with_near_names(tmp_path: Path) -> None:
    """A tag that never existed is a usage error naming near ones."""
    tree = _tree(tmp_path, ("a", "v0.6.1"))
    with pytest.raises(UsageError, match=r"unknown stack 'v0\.6\.l'.*did you mean v0\.6\.1\?"):
        tree.choose_machine(("v0.6.l",), None, frozenset())


def test_published_tag_without_rounds_is_no_data(tmp_path: Path) -> None:
    """A published stack that nobody measured is no data."""
    tree = _tree(tmp_path, ("a", "v1"))
    with pytest.raises(NoDataError, match="stack v2 has no rounds"):
        tree.choose_machine(("v1", "v2"), None, frozenset({"v2"}))


def test_no_machine_with_both_is_no_data(tmp_path: Path) -> None:
    """If no machine has both stacks, the line says where each was measured."""
    tree = _tree(tmp_path, ("a", "v1"), ("b", "v2"))
    with pytest.raises(NoDataError, match="v1 has some on a; v2 has some on b"):
        tree.choose_machine(("v1", "v2"), None, frozenset())
    with pytest.raises(NoDataError, match="have no rounds on a"):
        tree.choose_machine(("v1", "v2"), "a", frozenset())


def test_no_rounds_at_all_is_no_data(tmp_path: Path) -> None:
    """An empty or missing folder is no data, with the way to the recorded rounds."""
    with pytest.raises(NoDataError, match="--recorded"):
        scan([tmp_path / "none"]).choose_machine(("v1",), None, frozenset())


def test_half_written_files_are_set_aside(tmp_path: Path) -> None:
    """A temporary file left by a killed run is no round file."""
    tree = _tree(tmp_path, ("a", "v1"))
    leftover = tmp_path / "a" / "v1" / "x.json.gz.tmp"
    leftover.write_bytes(b"half")
    again = scan([tmp_path])
    assert again.files == tree.files
    assert again.ignored == (leftover,)


def test_tags_are_read_from_any_layout(tmp_path: Path) -> None:
    """The published list's tags are found; without the file there are none."""
    path = tmp_path / "stacks.toml"
    assert load_known_tags(path) == frozenset()
    path.write_text('[[stack]]\ntag = "v1"\n[[stack]]\ntag = "v2"\npins = { a = "1" }\n')
    assert load_known_tags(path) == {"v1", "v2"}
    path.write_text("[[")
    with pytest.raises(UsageError, match="is no TOML"):
        load_known_tags(path)


def test_a_list_of_stacks_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    """Text that is no UTF-8, nesting without end and a folder in its place are named."""
    path = tmp_path / "stacks.toml"
    path.mkdir()
    with pytest.raises(UsageError, match=r"cannot read .*stacks\.toml: Is a directory"):
        load_known_tags(path)
    path.rmdir()
    for data in (b"\xff = 1", b"x = " + b"[" * 5000):
        path.write_bytes(data)
        with pytest.raises(UsageError, match="is no TOML"):
            load_known_tags(path)


def test_a_closed_folder_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds in a folder that may not be read are not known, so nothing is judged without them."""
    _tree(tmp_path, ("a", "v1"))
    listed = Path.iterdir

    def closed(self: Path) -> Iterator[Path]:
        if self.name == "v1":
            raise PermissionError(13, "Permission denied", str(self))
        return listed(self)

    monkeypatch.setattr(Path, "iterdir", closed)
    with pytest.raises(UsageError, match=r"cannot read .*/a/v1: Permission denied"):
        scan([tmp_path])


def test_a_folder_behind_a_closed_one_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """That a folder may not be looked at does not mean that it is none."""

    def closed(self: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "is_dir", closed)
    with pytest.raises(UsageError, match="cannot read x: Permission denied"):
        is_folder(Path("x"))
