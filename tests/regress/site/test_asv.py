"""asv's page without other hosts."""

from importlib.resources import files
from pathlib import Path

import pytest

from regress.errors import UsageError
from regress.site import asv
from regress.site.asv import localise, publish_asv

PAGE = (files("asv") / "www" / "index.html").read_text()


def test_the_page_of_the_locked_asv_loads_nothing_from_elsewhere() -> None:
    """Every script and style sheet of asv's own page is taken from its folder."""
    assert 'src="https://' in PAGE
    local = localise(PAGE)
    assert 'src="http' not in local
    assert '<link rel="stylesheet" href="http' not in local
    assert "integrity=" not in local
    assert 'src="jquery.min.js"' in local


def test_a_file_that_is_not_kept_is_named() -> None:
    """Another release of asv that loads something else is refused, not published broken."""
    with pytest.raises(UsageError, match=r"new-library\.js, which is not kept here"):
        localise('<head></head><script src="https://host/new-library.js"></script>')


def test_the_published_folder_holds_what_its_page_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After asv has written its site, every file that the page names is beside it."""
    ran = []

    def run(command: list[str], name: str) -> None:
        ran.append((name, command))
        (tmp_path / "index.html").write_text(PAGE)

    monkeypatch.setattr(asv, "_run", run)
    publish_asv(tmp_path, recorded=True)
    assert [name for name, _ in ran] == ["export", "asv publish"]
    assert "--recorded" in ran[0][1]
    assert [name for name in asv._KEPT.values() if not (tmp_path / name).is_file()] == []


def test_what_failed_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last line of a program that failed is the reason, and nothing is published."""
    monkeypatch.setattr(asv, "_REPOSITORY", tmp_path)
    with pytest.raises(UsageError, match=r"`export` failed: .*benchmarks"):
        publish_asv(tmp_path / "asv", recorded=False)
    assert not (tmp_path / "asv").exists()
