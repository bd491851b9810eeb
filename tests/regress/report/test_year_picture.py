"""The picture of a year."""

import sys

import pytest

from regress.errors import UsageError
from regress.model.year import Year, YearLine, YearPoint, YearRelease
from regress.report.picture import drawn_from
from regress.report.year_picture import render_year_picture, year_fingerprint
from workloads.record import Case


def _year(releases: int, time_us: float = 10.0) -> Year:
    tags = [f"v{n}" for n in range(releases)]
    points = tuple(YearPoint(tag, time_us, 9.0, 11.0, 5) for tag in tags)
    lines = (
        YearLine("made up", Case("slug", "one"), like_for_like=True, points=points),
        YearLine("made up too", Case("slug", "two"), like_for_like=False, points=points),
        YearLine("never measured", Case("slug", "three"), like_for_like=True, points=()),
    )
    return Year("Synthetic GPU", tuple(YearRelease(tag, "2026-01-01") for tag in tags), lines)


@pytest.mark.parametrize("releases", [1, 40])
def test_the_same_year_gives_the_same_bytes(releases: int) -> None:
    """The picture says what it was drawn from, however many releases there are."""
    pytest.importorskip("matplotlib")
    year = _year(releases)
    svg = render_year_picture(year)
    assert drawn_from(svg) == year_fingerprint(year)
    assert svg == render_year_picture(year)


def test_the_fingerprint_follows_the_data() -> None:
    """A time that changes makes the picture stale."""
    assert year_fingerprint(_year(2)) != year_fingerprint(_year(2, 10.5))


def test_drawing_without_matplotlib_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optional extra is named instead of a traceback."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install -e '\.\[plot\]'"):
        render_year_picture(_year(2))
