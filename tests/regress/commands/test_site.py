"""The command `site`."""

from pathlib import Path

import pytest

from regress.cli import main
from tests.regress.builders import CASE, OTHER, lost, make_round, measured, rounds_of, write_rounds

TIMES = {CASE: (10.0, 10.1, 10.2, 10.1, 10.0), OTHER: (20.0, 20.1, 20.0, 20.2, 20.1)}
SLOWER = {CASE: (15.0, 15.1, 15.2, 15.1, 15.0), OTHER: (20.0, 20.1, 20.0, 20.2, 20.1)}


def _site(rounds: Path, folder: Path, *options: str) -> int:
    return main(["site", "--rounds", str(rounds), "--to", str(folder), *options])


@pytest.fixture
def rounds(tmp_path: Path) -> Path:
    """Made-up rounds of two releases, the second slower on one cell."""
    root = tmp_path / "rounds"
    write_rounds(root, [*rounds_of("v0.6.0", TIMES), *rounds_of("v0.6.1", SLOWER)])
    return root


def test_a_site_is_written_and_said_where(
    rounds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command writes pages and the feed, and names the page to open."""
    assert _site(rounds, tmp_path / "site") == 0
    assert str(tmp_path / "site" / "index.html") in capsys.readouterr().out
    assert (tmp_path / "site" / "findings.atom").is_file()
    assert (tmp_path / "site" / "cells" / f"{CASE}.html").is_file()


def test_the_same_rounds_give_the_same_bytes(rounds: Path, tmp_path: Path) -> None:
    """A site that is built again can be published without a change."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        assert _site(rounds, folder) == 0
    first, second = (
        {path.relative_to(f): path.read_bytes() for path in f.rglob("*") if path.is_file()}
        for f in folders
    )
    assert first == second


def test_a_new_release_is_known_and_a_lost_one_leaves_no_page(rounds: Path, tmp_path: Path) -> None:
    """One more round file and one command later the site has the release, and the other way."""
    folder = tmp_path / "site"
    added = write_rounds(rounds, rounds_of("v0.6.3", TIMES))
    assert _site(rounds, folder) == 0
    page = folder / "releases" / "v0.6.3.html"
    assert page.is_file()
    (folder / "mine.txt").write_text("not the site's")
    for path in added:
        path.unlink()
    assert _site(rounds, folder) == 0
    assert not page.exists()
    assert (folder / "mine.txt").is_file()


def test_a_damaged_file_is_named_and_the_rest_stands(
    rounds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code says so, the command and every page name the file."""
    damaged = rounds / "synthetic" / "v0.6.1" / "half.json.gz"
    damaged.write_bytes(b"\x1f\x8b\x08 no more")
    folder = tmp_path / "site"
    assert _site(rounds, folder) == 2
    assert capsys.readouterr().err.count("half.json.gz") == 1
    assert "half.json.gz" in (folder / "index.html").read_text()
    assert (folder / "cells" / f"{CASE}.html").is_file()


def test_a_lost_case_is_shown_as_not_measured_with_its_reason(rounds: Path, tmp_path: Path) -> None:
    """No blank where a time is missing; and text of an error is text, never markup."""
    reason = "<script>alert('x')</script> & more"
    records = [lost(CASE, reason=reason), measured(OTHER, 20.0)]
    write_rounds(rounds, [make_round("v0.6.3", n, records) for n in range(5)])
    folder = tmp_path / "site"
    _site(rounds, folder)
    for name in (f"cells/{CASE}.html", "releases/v0.6.3.html"):
        page = (folder / name).read_text()
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page
    assert "not measured" in (folder / "cells" / f"{CASE}.html").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--url", "somewhere"), "give https://HOST/PATH/"),
        (("--asv",), "leave out --rounds"),
        (("--machine", "other"), "no rounds of a machine 'other'"),
    ],
)
def test_wrong_options_are_one_line(
    rounds: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    said: str,
) -> None:
    """Usage errors say what is wrong and what to do."""
    try:
        code = _site(rounds, tmp_path / "site", *options)
    except SystemExit as error:
        code = int(error.code or 0)
    assert code == 2
    assert said in capsys.readouterr().err


def test_no_rounds_are_no_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty folder is no data, not an empty site."""
    (tmp_path / "rounds").mkdir()
    assert _site(tmp_path / "rounds", tmp_path / "site") == 4
    assert "no rounds to show" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_one_release_is_shown_without_a_verdict(tmp_path: Path) -> None:
    """Nothing is compared with nothing: the pages say that it was the first."""
    write_rounds(tmp_path / "rounds", rounds_of("v0.6.0", TIMES))
    folder = tmp_path / "site"
    assert _site(tmp_path / "rounds", folder) == 0
    assert "first measured" in (folder / "index.html").read_text()
    assert "needs rounds of two releases" in (folder / "findings.html").read_text()
