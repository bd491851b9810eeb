"""Thresholds that moved and plans that changed, as few rows."""

import msgspec

from regress.model.finding import Change
from regress.model.history import History
from regress.model.history_moves import Number, ThresholdMove
from regress.model.history_series import PlanChange
from regress.model.line import Axis
from regress.model.thresholds import Bracket
from regress.report.history_markdown import render_history_markdown
from regress.report.history_moves import move_rows, plan_rows
from regress.report.history_text import render_history_text
from regress.report.view import View
from tests.regress.pipeline.alerts.histories import history
from workloads.backend import Mode
from workloads.record import Case

ONE, OTHER = (Axis("decode-x", 1024, name, Mode.EAGER, "skew40") for name in ("a", "b"))
AT_66, AT_67, BELOW = Bracket(65, 66), Bracket(66, 67), Bracket(None, 8)
CHOSEN = Change("resolved_backend", "fa2", "fa3")
TITLES = "Thresholds that moved", "Plans that changed"


def _moved(*moves: tuple[Axis, Number, Bracket, Bracket]) -> History:
    told = (
        ThresholdMove(axis, number, "v1", "v2", base, head) for axis, number, base, head in moves
    )
    return msgspec.structs.replace(history(), threshold_moves=tuple(told))


def _planned(*changes: tuple[str, tuple[Change, ...]], since: str | None = None) -> History:
    told = (PlanChange(Case(slug, "a"), "x", "v1", "v2", what) for slug, what in changes)
    return msgspec.structs.replace(history(since=since), plan_changes=tuple(told))


def test_axes_with_equal_numbers_are_one_row() -> None:
    """And a number that is only predicted is said to be a model's."""
    rows = [*move_rows(_moved(*((a, Number.PREDICTED, AT_66, AT_67) for a in (ONE, OTHER))))]
    what = "splitting ends at 67, was at 66"
    assert rows == [("v1 -> v2", what, "the planner's model", f"{ONE} and 1 more")]


def test_the_most_certain_number_is_told() -> None:
    """Others of the same axis are named, and its ramp goes without saying."""
    report = _moved(
        (ONE, Number.RAMP, AT_66, BELOW),
        (ONE, Number.PREDICTED, AT_66, AT_67),
        (ONE, Number.PLANNED, AT_66, BELOW),
    )
    what = "splitting ends at 8 or below, was at 66"
    assert [*move_rows(report)] == [("v1 -> v2", what, "plans, the planner's model", str(ONE))]


def test_a_ramp_that_moves_alone_is_told() -> None:
    """It is no end of splitting."""
    (row,) = move_rows(_moved((ONE, Number.RAMP, AT_66, BELOW)))
    assert row[1:3] == ("the ramp begins at 8 or below, was at 66", "times")


def test_plans_that_changed_alike_are_one_row() -> None:
    """With the usual numbers, and how many have these."""
    usual, rare = (Change("padded_batch", base, 66) for base in (98, 95))
    report = _planned(("w1", (rare,)), ("w2", (usual,)), ("w3", (usual,)))
    assert [*plan_rows(report)] == [
        ("v1 -> v2", "padded_batch 98 -> 66", "2 of 3 cases", "w2@a"),
    ]


def test_another_backend_explains_every_other_fact() -> None:
    """It is told alone, and apart from another choice."""
    more = Change("q_tile", 16, None)
    back = Change("resolved_backend", "fa3", "fa2")
    report = _planned(("w1", (CHOSEN, more)), ("w2", (CHOSEN,)), ("w3", (back,)), ("w4", (more,)))
    assert [row[1:3] for row in plan_rows(report)] == [
        ("resolved_backend fa2 -> fa3", "2 cases"),
        ("resolved_backend fa3 -> fa2", "1 case"),
        ("q_tile 16 -> none", "1 case"),
    ]


def test_plans_before_since_are_not_told() -> None:
    """As findings are not."""
    assert [*plan_rows(_planned(("w1", (CHOSEN,)), since="v1"))]
    assert not [*plan_rows(_planned(("w1", (CHOSEN,)), since="v2"))]


def test_both_formats_have_the_sections_or_nothing() -> None:
    """Where nothing moved there is no heading."""
    report = msgspec.structs.replace(
        _moved((ONE, Number.PLANNED, AT_66, AT_67)),
        plan_changes=_planned(("w1", (CHOSEN,))).plan_changes,
    )
    for render in (render_history_text, render_history_markdown):
        told, quiet = render(report, View()), render(history(), View())
        assert all(title in told for title in TITLES)
        assert not any(title in quiet for title in TITLES)
        assert "splitting ends at 67, was at 66" in told
