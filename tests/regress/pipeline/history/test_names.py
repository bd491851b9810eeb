"""Ids of findings: one each, and never for something else."""

from regress.model.history import HistoryFinding
from regress.pipeline.alerts.releases import assess_releases
from regress.pipeline.history.findings import named_apart
from tests.regress.pipeline.alerts.histories import finding, history

TAGS = ("v1", "v2", "v3", "v4")


def _over(by: str, last_good: str = "v1") -> HistoryFinding:
    return finding(standing=False, recovered_by=by, last_good=last_good)


def test_what_stands_keeps_the_id_and_what_is_over_says_when() -> None:
    """Whatever their order and their size."""
    named = named_apart((_over("v3"), finding(), _over("v4")), TAGS)
    assert [f.id for f in named] == ["step-1-until-v3", "step-1", "step-1-until-v4"]
    (alone,) = named_apart((_over("v3"),), TAGS)
    assert alone.id == "step-1-until-v3"


def test_an_older_release_before_it_is_named() -> None:
    """Not every release holds every case: one change has different releases before it then."""
    named = named_apart((finding(last_good="v1"), finding(last_good="v2"), _over("v4")), TAGS)
    assert [f.id for f in named] == ["step-1-after-v1", "step-1", "step-1-after-v1-until-v4"]
    twice = named_apart((finding(), finding()), TAGS)
    assert len({f.id for f in twice}) == 2


def test_an_alert_closes_when_nothing_of_it_stands_any_more() -> None:
    """Not when a part of its cases is over; the last release that took something back is named."""
    half = history(*named_apart((finding(), _over("v3")), TAGS))
    (alert,) = assess_releases(half).alerts
    assert alert.key.endswith(":step-1")
    assert not [one for one in assess_releases(half).cleared if one.covers(alert.key, ("v1", "v2"))]
    whole = history(*named_apart((_over("v2"), _over("v3")), TAGS))
    cleared = [o for o in assess_releases(whole).cleared if o.covers(alert.key, ("v1", "v2"))]
    assert [one.told for one in cleared] == ["v3 took it back."]
