"""`backends` as Markdown."""

from pathlib import Path

import pytest

from regress.model.backends import BackendsReport
from regress.pipeline.backends import backends
from regress.pipeline.request import Request
from regress.report.backends_markdown import render_backends_markdown
from regress.report.view import View
from tests.regress.builders import CASE, CONFIG, OTHER, lost, make_round, measured, write_rounds
from tests.regress.report.samples import CUDA, HOSTILE, QUIET, VARLEN


@pytest.fixture
def report(tmp_path: Path) -> BackendsReport:
    """An inverted choice, a contiguous rival, and a case that was lost."""
    rounds = [
        make_round(
            "v1",
            n,
            [
                measured(CASE, t * 4),
                measured(OTHER, t),
                measured(VARLEN, t * 0.8),
                lost(CUDA, reason=HOSTILE),
            ],
        )
        for n, t in enumerate(QUIET)
    ]
    write_rounds(tmp_path, rounds)
    return backends("v1", Request((tmp_path,), None, "any", None, "made up"), CONFIG)


def test_the_choice_and_what_to_do_stand_first(report: BackendsReport) -> None:
    """A wrong choice is shown open, with the advice and what that costs."""
    text = render_backends_markdown(report, View())
    assert text.startswith("### Backends of `v1`\n")
    (line,) = [x for x in text.splitlines() if x.startswith("| `flashinfer-decode-tc-auto`")]
    assert "<br>INVERTED | decode (eager) | 4.00x |" in line
    assert 'use_tensor_cores=True, backend="fa2"<br>then at most 1.00x the best' in line
    assert text.index("INVERTED") < text.index("<details>")


def test_unlike_layouts_are_labelled(report: BackendsReport) -> None:
    """Wherever contiguous KV stands beside paged KV, it says so."""
    text = render_backends_markdown(report, View())
    (line,) = [x for x in text.splitlines() if x.startswith("| `sglang-hopper-fa3`")]
    assert "`fa3-varlen`<br>not like for like" in line


def test_times_are_listed_on_request(report: BackendsReport) -> None:
    """--all adds every time; without it only what has none is listed, its reason being text."""
    folded, full = (render_backends_markdown(report, View(everything=e)) for e in (False, True))
    assert "Times (" not in folded
    assert "- 80.0 us: `fa3-varlen` on `" in full
    assert "Without a time (1)" in folded
    assert "<script" not in folded
