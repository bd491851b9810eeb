"""The published list of stacks, as regress reads it."""

from pathlib import Path

import pytest

from regress.errors import UsageError
from regress.store.stacks import load_published
from regress.store.tree import STACKS_FILE, load_known_tags

TEXT = """\
# made up
[[stack]]
tag = "v1"
pins = {flashinfer-python = "1", fa3-fwd = "1"}

[[stack]]
tag = "fa3-fwd-2"
pins = {fa3-fwd = "2"}
"""


def test_order_line_and_libraries_are_read(tmp_path: Path) -> None:
    """An entry has the line of its tag and the names that it pins."""
    path = tmp_path / "stacks.toml"
    path.write_text(TEXT)
    first, second = load_published(path)
    assert (first.tag, first.line, second.line) == ("v1", 3, 7)
    assert first.libraries == {"flashinfer-python", "fa3-fwd"}
    assert second.libraries == {"fa3-fwd"}


def test_the_repository_has_the_tags_that_it_publishes() -> None:
    """Every line given is that of the tag in the real file."""
    lines = STACKS_FILE.read_text(encoding="utf-8").splitlines()
    published = load_published()
    assert {stack.tag for stack in published} == load_known_tags()
    assert all(lines[stack.line - 1] == f'tag = "{stack.tag}"' for stack in published)


def test_no_file_is_no_stacks(tmp_path: Path) -> None:
    """A checkout without the list has only ad-hoc stacks."""
    assert load_published(tmp_path / "none.toml") == ()


@pytest.mark.parametrize("text", ["x", "[[stack]]\n", '[[stack]]\ntag = "v1"\n', "stack = 3"])
def test_another_file_is_told(tmp_path: Path, text: str) -> None:
    """A file of another layout is one line, not an order that nobody meant."""
    path = tmp_path / "stacks.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match="is no list of stacks"):
        load_published(path)


def test_an_unreadable_file_is_told(tmp_path: Path) -> None:
    """A folder in the place of the file is one line."""
    with pytest.raises(UsageError, match="cannot read"):
        load_published(tmp_path)
