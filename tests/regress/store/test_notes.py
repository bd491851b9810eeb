"""Heads of triage notes."""

import re
from pathlib import Path

import pytest

from regress.errors import UsageError
from regress.model.verdict import Verdict
from regress.store.notes import TRIAGE, load_notes, parse_note
from regress.store.stacks import load_published

HEAD = """+++
title = "a cause"
[[change]]
after = "v1"
by = "v2"
verdicts = ["REGRESSION", "GONE"]
cases = '^decode-'
+++
# A page
+++
"""


def test_a_head_is_read() -> None:
    """It ends at the first line of `+++`; the page itself is free text."""
    note = parse_note(HEAD, "a.md")
    (change,) = note.change
    assert (note.title, note.path, change.after, change.by) == ("a cause", "a.md", "v1", "v2")
    assert change.verdicts == (Verdict.REGRESSION, Verdict.GONE)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("+++\ntitle", "title", "does not begin with a head"),
        ('title = "a cause"', "title = a", "Invalid value"),
        ('title = "a cause"', 'titel = "a"', "titel"),
        ('title = "a cause"', 'title = " "', "needs a `title`"),
        ('"REGRESSION", "GONE"', "", "`verdicts` is empty"),
        ("REGRESSION", "WORSE", "WORSE"),
        ("'^decode-'", "'('", "no regular expression"),
        ("cases", "up_to = 0.97\ncases", "`up_to` is 0.97"),
        ("cases", "up_to = inf\ncases", "`up_to` is inf"),
    ],
)
def test_a_wrong_head_is_named(old: str, new: str, message: str) -> None:
    """One line says which page, what is wrong and where to read more."""
    with pytest.raises(UsageError, match=message) as caught:
        parse_note(HEAD.replace(old, new), "a.md")
    told = str(caught.value)
    assert told.startswith("a.md: ")
    assert told.endswith("regress/docs/history.md says how a note begins")
    assert "\n" not in told


def test_a_head_without_a_change_is_wrong() -> None:
    """A page that explains nothing is no note."""
    with pytest.raises(UsageError, match=r"needs a `title` and a `\[\[change\]\]`"):
        parse_note('+++\ntitle = "x"\nchange = []\n+++\n', "a.md")


def test_only_dated_pages_are_notes(tmp_path: Path) -> None:
    """Other pages of the folder are left alone; notes come oldest first."""
    for name in ("2026-02-01-b.md", "2026-01-01-a.md", "guide.md"):
        (tmp_path / name).write_text(HEAD if name[0] == "2" else "free", encoding="utf-8")
    names = [Path(note.path).name for note in load_notes(tmp_path)]
    assert names == ["2026-01-01-a.md", "2026-02-01-b.md"]


def test_a_page_that_is_no_text_is_named(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 end with one line, too."""
    (tmp_path / "2026-01-01-a.md").write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"cannot read the note .*2026-01-01-a\.md"):
        load_notes(tmp_path)


def test_ranges_of_all_pages_are_published_releases() -> None:
    """A mistyped tag would silently explain nothing."""
    order = [stack.tag for stack in load_published()]
    notes = load_notes()
    assert notes
    for note in notes:
        assert all(order.index(one.after) < order.index(one.by) for one in note.change), note.path


def test_all_pages_have_their_sections() -> None:
    """What, since when, evidence, upstream, workaround, and what is not explained are told."""
    wanted = (
        "What",
        "Since when",
        "Workloads",
        "Evidence",
        "Upstream",
        "Workaround",
        "Not explained",
    )
    for page in sorted(TRIAGE.glob("20*.md")):
        if not page.stem.endswith("small-steps"):
            text = page.read_text(encoding="utf-8")
            assert not [name for name in wanted if f"**{name}" not in text], page.name


def test_every_page_is_listed_where_one_looks_for_it() -> None:
    """The page that says what to do after a red verdict links to each note."""
    listed = re.findall(
        r"^- \[.+\]\((\S+)\)$", (TRIAGE / "regression.md").read_text(), re.MULTILINE
    )
    assert listed == [Path(note.path).name for note in load_notes()]
