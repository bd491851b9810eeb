"""The summary of a serving trace."""

import pytest

from regress.pipeline.explain import trace
from regress.pipeline.explain.explain import explain_backend
from regress.pipeline.explain.lengths import Step
from regress.pipeline.explain.subject import Subject
from regress.pipeline.explain.trace import summarise_trace
from workloads.devices import parse_device
from workloads.planner import Batch
from workloads.shape import AttentionShape

FA2 = "flashinfer-decode-tc-fa2"
EVEN, UNEVEN = (4000,) * 66, (100_000, *((2000,) * 65))


def subject(lengths: tuple[int, ...] = EVEN) -> Subject:
    return Subject("trace", Batch(lengths, AttentionShape(32, 4)), parse_device("h200"))


def steps(*batches: tuple[int, ...]) -> list[Step]:
    return [Step(line, lengths) for line, lengths in enumerate(batches, 1)]


def test_shares_and_the_worst_step() -> None:
    """One uneven step of four is a quarter, and its line is named."""
    found = summarise_trace(subject(), steps(EVEN, EVEN, UNEVEN, EVEN), (FA2,), "command")
    (told,) = found.backends
    assert (found.steps, found.modelled) == (4, 4)
    assert told.uneven == 0.25
    assert told.unsplit == 1.0
    assert told.threshold == 66
    assert told.worst_line == 3
    assert found.requests.median == 66


def test_times_are_those_of_single_batches() -> None:
    """A step of a trace takes what `explain` says of its batch, and the total adds up."""
    found = summarise_trace(subject(), steps(EVEN, UNEVEN), (FA2,), "command")
    (told,) = found.backends
    alone = [explain_backend(subject(lengths), FA2, {}).told for lengths in (EVEN, UNEVEN)]
    times_us = [one.predicted.time_us for one in alone if one.predicted]
    assert told.time_us is not None
    assert told.time_us.most == pytest.approx(max(times_us))
    assert told.total_s == pytest.approx(sum(times_us) / 1e6)


def test_a_long_trace_is_thinned_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the budget every n-th step is modelled; batches are described by all steps."""
    monkeypatch.setattr(trace, "MOST_MODELLED", 66 * 10)
    found = summarise_trace(subject(), steps(*([EVEN] * 39), UNEVEN), (FA2,), "command")
    assert found.steps == 40
    assert found.modelled == 10
    assert found.longest_share.most > 0.4
    assert found.backends[0].uneven == 0.0


def test_two_processes_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that is shared between processes changes nothing."""
    wanted = steps(EVEN, UNEVEN, EVEN)
    alone = summarise_trace(subject(), wanted, (FA2,), "command")
    monkeypatch.setattr(trace, "_ALONE", 0)
    assert summarise_trace(subject(), wanted, (FA2,), "command") == alone


def test_a_backend_that_cannot_run_says_why() -> None:
    """It takes nothing from the others."""
    names = ("flash-attn-paged", FA2)
    refused, told = summarise_trace(subject(), steps(EVEN), names, "command").backends
    assert "pages of a multiple of 256" in refused.refused
    assert told.time_us is not None
