"""Numbers and workloads in words."""

import pytest

from regress.model.finding import Ratio
from regress.model.verdict import Verdict
from regress.site import words
from workloads import catalog


def test_every_verdict_has_a_sign_of_its_own() -> None:
    """Colour is never the only difference between verdicts."""
    assert {*words.MARKS} == {*Verdict}
    assert len({*words.MARKS.values()}) == len(Verdict)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "not measured"), (922.432, "922.432"), (1194.0565, "1,194.0565"), (100.0, "100")],
)
def test_times_are_written_as_the_files_have_them(value: float | None, text: str) -> None:
    """A missing time is said to be missing, a present one keeps every digit."""
    assert words.us(value) == text


def test_an_unbounded_interval_is_no_number() -> None:
    """Too few rounds bound nothing, and the page says so."""
    assert words.interval(Ratio(1.1, None, None, 0.0)) == "unbounded"
    assert words.interval(Ratio(1.1, 1.05, 1.2, 0.95)) == "1.050 – 1.200"


def test_every_workload_of_the_catalog_has_words() -> None:
    """No slug of the catalog is shown as nothing but itself."""
    slugs = {entry.case.workload for entry in catalog.cases()}
    assert [slug for slug in slugs if words.workload_words(slug) == slug] == []
    assert words.workload_words("strange") == "strange"
