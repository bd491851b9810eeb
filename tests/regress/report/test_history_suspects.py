"""Cells that look slower, with too few rounds to prove it."""

from pathlib import Path

import msgspec

from regress.model.verdict import Verdict
from regress.report.history_markdown import render_history_markdown
from regress.report.history_suspects import suspects_of
from regress.report.history_text import render_history_text
from regress.report.view import View
from tests.regress.pipeline.history.year import CASES, TAGS, Year, history_of, step_at

FEW = {"c1": (range(3), 3)}
"""Three rounds against three prove nothing, however far apart they are."""


def test_they_are_named_with_what_decides(tmp_path: Path) -> None:
    """The largest first; they are UNDECIDED and no finding."""
    report = history_of(Year(tmp_path, step_at(2, 1.1, CASES[:2]), campaigns=FEW))
    assert (report.verdict, report.findings) == (Verdict.UNDECIDED, ())
    (found,) = suspects_of(report)
    assert (found.base, found.head) == (TAGS[1], TAGS[2])
    assert {change.case for change in found.changes} == {*CASES[:2]}
    ratios = [change.ratio.estimate for change in found.changes]
    assert ratios == sorted(ratios, reverse=True)
    decides = f"python -m regress ab {TAGS[1]} {TAGS[2]} --tier gate"
    assert decides in render_history_text(report, View())
    assert decides in render_history_markdown(report, View())


def test_what_lies_within_the_margin_or_got_faster_is_no_suspect(tmp_path: Path) -> None:
    """Nor is there a heading without one."""

    def factor(case: object, point: int) -> float:
        return 1.0 if point < 2 else 0.9 if case == CASES[0] else 1.004

    report = history_of(Year(tmp_path, factor, campaigns=FEW))
    assert suspects_of(report) == ()
    assert "Looks slower" not in render_history_text(report, View())


def test_what_is_proven_is_no_suspect(tmp_path: Path) -> None:
    """It is a finding then."""
    report = history_of(Year(tmp_path, step_at(8, 1.1)))
    assert report.findings
    assert suspects_of(report) == ()


def test_the_command_asks_for_what_the_report_is_about(tmp_path: Path) -> None:
    """Families and pattern are passed on, quoted; what began before --since is left out."""
    report = history_of(Year(tmp_path, step_at(2, 1.1), campaigns=FEW))
    part = msgspec.structs.replace(report, families=("decode-sweep",), pattern="a|b")
    asked = "--tier gate --family decode-sweep --cells 'a|b'"
    assert asked in render_history_text(part, View())
    assert suspects_of(msgspec.structs.replace(report, since=TAGS[2])) == ()
