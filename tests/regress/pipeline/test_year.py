"""The telling cells over the releases."""

from regress.pipeline.year import TELLING, year_of
from tests.regress.builders import lost, make_round, measured
from workloads import catalog

CASE = TELLING[0][1]


def test_telling_cells_are_of_the_smallest_tier() -> None:
    """Every release is measured on them."""
    gate = {entry.case for entry in catalog.cases("gate")}
    assert [case for _, case in TELLING if case not in gate] == []


def test_only_releases_with_a_time_are_drawn() -> None:
    """A release without rounds is left out, one whose case was lost has a gap in that line."""
    rounds = {
        "v1": [make_round("v1", n, [measured(CASE, time)]) for n, time in enumerate((9.0, 11.0))],
        "v3": [make_round("v3", 0, [lost(CASE)])],
        "elsewhere": [make_round("elsewhere", 0, [measured(CASE, 1.0)])],
    }
    year = year_of(rounds, {"v1": "2026-01-01", "v2": "2026-02-01", "v3": "2026-03-01"})
    assert [release.tag for release in year.releases] == ["v1", "v3"]
    (point,) = year.lines[0].points
    assert (point.tag, point.median_us, point.low_us, point.high_us) == ("v1", 10.0, 9.0, 11.0)
    assert not any(line.points for line in year.lines[1:])


def test_contiguous_kv_is_told_apart() -> None:
    """The control reads contiguous KV, the others paged KV."""
    year = year_of({}, {})
    assert [line.like_for_like for line in year.lines] == [True] * 5 + [False]
