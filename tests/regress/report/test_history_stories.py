"""Findings of one step and one cause are one story."""

from msgspec.structs import replace

from regress.model.cause import Cause, ChangedFile
from regress.model.finding import Metric, Ratio, Series
from regress.model.history import Extreme
from regress.model.history_series import Step
from regress.model.verdict import Verdict
from regress.report.history_stories import sources_of, stories_of
from tests.regress.builders import CASE, OTHER
from tests.regress.pipeline.alerts.histories import finding, history


def _cause(summary: str, *names: str) -> Cause:
    files = tuple(ChangedFile(f"flashinfer/{name}", "changed") for name in names)
    return Cause(summary, explained=True, evidence=(), files=files)


def _step(case: object, ratio: float) -> Step:
    series = Series(case, Metric.KERNEL_TIME)  # type: ignore[arg-type]
    known = Ratio(ratio, None, None, 0.9)
    return Step(series, "decode", "v1", "v2", Verdict.REGRESSION, known, 0.01, ("v1", "v2"))


def test_one_step_with_one_cause_is_told_once() -> None:
    """Cells are counted together, the largest change leads, files do not keep them apart."""
    small = finding(
        id="a",
        cause=_cause("other device code; sources that differ: prefill.py", "prefill.py"),
        largest=Extreme(CASE, Ratio(1.02, 1.01, 1.03, 0.9)),
    )
    large = finding(
        id="b",
        cases=(OTHER,),
        families=("fp8",),
        cause=_cause("other device code; sources that differ: decode.py", "decode.py"),
        largest=Extreme(OTHER, Ratio(1.05, 1.04, 1.06, 0.9)),
    )
    told = replace(history(small, large), steps=(_step(CASE, 1.02), _step(OTHER, 1.05)))
    (story,) = stories_of(told, told.findings)
    assert story.reason == "2 cases slower: 1.02x to 1.05x the time"
    assert (story.lead.id, story.families) == ("b", ("decode", "fp8"))


def test_another_cause_end_or_release_is_another_story() -> None:
    """What became of it is part of the story."""
    told = history(
        finding(id="a"),
        finding(id="b", cause=_cause("the backend resolves to fa3")),
        finding(id="c", standing=False, recovered_by="v3"),
        finding(id="d", first_bad="v3", last_good="v2"),
        finding(id="e", verdict="IMPROVEMENT"),
    )
    assert [story.lead.id for story in stories_of(told, told.findings)] == list("abcde")


def test_sources_are_counted_and_the_first_named() -> None:
    """A reader wants to know where to look, not thirty names."""
    few = finding(cause=_cause("x; y", "a.py", "b.cuh"))
    many = finding(cause=_cause("x; y", "a.py", "b.cuh", "c.cu", "d.py"))
    none = finding(cause=_cause("x; no attention source differs"))
    assert sources_of(few) == "2 sources of attention differ: a.py, b.cuh"
    assert sources_of(many) == "4 sources of attention differ, first a.py, b.cuh, c.cu"
    assert sources_of(none) == "no attention source differs"
