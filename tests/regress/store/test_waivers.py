"""The file of waivers."""

from datetime import date
from pathlib import Path

import pytest

from regress.errors import UsageError
from regress.model.verdict import Verdict
from regress.model.waiver import WAIVABLE, Waiver
from regress.store import waivers
from regress.store.waivers import load_waivers, parse_waivers

KEYS = {
    "cells": '"tc-auto$"',
    "since": '"v0.6.0"',
    "reason": '"auto is not used"',
    "owner": '"serving"',
    "expires": "2026-03-01",
}


def _text(**changes: str | None) -> str:
    keys = {**KEYS, **changes}
    lines = [f"{key} = {value}" for key, value in keys.items() if value is not None]
    return "\n".join(("version = 1", "[[waiver]]", *lines))


def test_a_waiver_reads_as_written(tmp_path: Path) -> None:
    """Without more, a REGRESSION of any size is accepted, from `since` on."""
    path = tmp_path / "w.toml"
    path.write_text(_text())
    wanted = Waiver("tc-auto$", "v0.6.0", "auto is not used", "serving", date(2026, 3, 1))
    assert load_waivers(path) == (wanted,)
    assert wanted.verdicts == (Verdict.REGRESSION,)


def test_every_key_is_read() -> None:
    """The keys that may be left out are read, too."""
    (broken,) = parse_waivers(_text(until='"v0.6.4"', verdicts='["BROKEN", "GONE"]'), "w.toml")
    assert (broken.until, broken.verdicts) == ("v0.6.4", (Verdict.BROKEN, Verdict.GONE))
    (bounded,) = parse_waivers(_text(up_to="1.2"), "w.toml")
    assert bounded.up_to == 1.2


def test_a_file_without_waivers_is_fine() -> None:
    """Only the version is a must."""
    assert parse_waivers("version = 1", "w.toml") == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (_text(owner=None), "waiver 1: Object missing required field `owner`"),
        (_text(owner='" "'), "waiver 1: `owner` is empty"),
        (_text(reason='""'), "waiver 1: `reason` is empty"),
        (_text(since='""'), "waiver 1: `since` is empty"),
        (_text(cell='"x"'), "unknown field `cell`"),
        (_text(cells='"("'), r"`cells` '\(' is no regular expression"),
        (_text(cells='"a{99999999999}"'), "is no regular expression"),
        (_text(cells="1"), "Expected `str`"),
        (_text(expires='"2026-03-01"'), "Expected `date`"),
        (_text(expires="2026-03-01T00:00:00Z"), "Expected `date`"),
        (_text(expires="2026-13-01"), "is no TOML"),
        (_text(until='"v0.6.0"'), "`until` must name a stack after `since`"),
        (_text(verdicts='["NO_DATA"]'), "NO_DATA cannot be waived"),
        (_text(verdicts='["UNDECIDED"]'), "UNDECIDED cannot be waived"),
        (_text(verdicts='["SLOW"]'), "Invalid enum value"),
        (_text(verdicts="[]"), "`verdicts` is empty"),
        (_text(up_to="0.9"), "`up_to` is 0.9"),
        (_text(up_to="inf"), "`up_to` is inf"),
        (_text(up_to="nan"), "`up_to` is nan"),
        (_text(up_to="1.2", verdicts='["GONE"]'), "`up_to` bounds a REGRESSION"),
        (f"{_text()}\n[[waiver]]\n", "waiver 2: Object missing required field"),
        ("version = 2", "needs `version = 1`, has 2"),
        ("version = true", "needs `version = 1`, has True"),
        ("[[waiver]]", "needs `version = 1`, has none"),
        ("version = 1\nwaivers = []", "unknown field `waivers`"),
        ("version = 1\nwaiver = 3", "Expected `array`"),
        ("version = ", "is no TOML"),
    ],
)
def test_a_mistake_is_one_line(text: str, told: str) -> None:
    """What is wrong is named in one line, with the file and the number of the waiver."""
    with pytest.raises(UsageError, match=told) as error:
        parse_waivers(text, "w.toml")
    assert "\n" not in str(error.value)
    assert str(error.value).startswith("w.toml")


@pytest.mark.parametrize("verdict", Verdict)
def test_only_what_is_shown_worse_can_be_waived(verdict: Verdict) -> None:
    """No verdict for missing evidence, and none for good news, is accepted in the file."""
    worse = {Verdict.REGRESSION, Verdict.BROKEN, Verdict.GONE, Verdict.VARIANCE}
    assert set(WAIVABLE) == worse
    text = _text(verdicts=f'["{verdict}"]')
    if verdict in worse:
        assert parse_waivers(text, "w.toml")[0].verdicts == (verdict,)
    else:
        with pytest.raises(UsageError, match=f"{verdict} cannot be waived"):
            parse_waivers(text, "w.toml")


def test_the_documented_example_is_right() -> None:
    """The file in the documentation reads, and shows every key."""
    page = (Path(waivers.__file__).parents[1] / "docs" / "waivers.md").read_text(encoding="utf-8")
    example = page.split("```toml\n")[1].split("```")[0]
    first, second = parse_waivers(example, "waivers.md")
    assert (first.up_to, second.verdicts) == (14.0, (Verdict.GONE,))
    assert all(f"\n{key} = " in example for key in Waiver.__struct_fields__)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """A file that was named must be there, and be text."""
    with pytest.raises(UsageError, match="cannot read the waivers"):
        load_waivers(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot read the waivers"):
        load_waivers(tmp_path / "binary.toml")
