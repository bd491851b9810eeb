"""What moved exactly, without any doubt of times: thresholds and plans, folded into few rows."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from regress.counted import counted
from regress.model.finding import Change
from regress.model.history import History
from regress.model.history_moves import Number, ThresholdMove
from regress.model.history_series import PlanChange
from regress.model.line import Axis
from regress.report.thresholds_rows import bracket_words

__all__ = ["MOVE_HEADER", "PLAN_HEADER", "move_rows", "plan_rows", "rows_of_moves"]

MOVE_HEADER: Final = ("step", "what", "by", "along")
PLAN_HEADER: Final = ("step", "facts", "in", "e.g.")
_BASIS: Final = {
    Number.PLANNED: "plans",
    Number.MEASURED: "times",
    Number.PREDICTED: "the planner's model",
    Number.RAMP: "times",
}
"""The most certain first."""
_CHOSEN: Final = "resolved_backend"

_Row = tuple[str, str, str, str]
_Moved = Mapping[Number, ThresholdMove]


def move_rows(report: History) -> Iterator[_Row]:
    """Return the thresholds that moved, newest first, axes with equal numbers together."""
    tags = [release.stack for release in report.releases]
    return rows_of_moves(
        sorted(report.threshold_moves, key=lambda move: (-tags.index(move.after), move.axis))
    )


def rows_of_moves(moves: Iterable[ThresholdMove]) -> Iterator[_Row]:
    """Return (step, what moved, how it is known, axes), in the order of the first of each."""
    at: dict[tuple[str, str, Axis], dict[Number, ThresholdMove]] = defaultdict(dict)
    for move in moves:
        at[move.before, move.after, move.axis][move.number] = move
    folded: dict[tuple[str, str, str], list[Axis]] = defaultdict(list)
    for (before, after, axis), moved in at.items():
        folded[f"{before} -> {after}", *_told(moved)].append(axis)
    for row, (axis, *others) in folded.items():
        yield *row, f"{axis}{f' and {len(others)} more' if others else ''}"


def _told(moved: _Moved) -> tuple[str, str]:
    """Say what moved by the most certain number, and which numbers agree.

    Where splitting ends somewhere else the ramp is elsewhere too, and goes without saying.
    """
    numbers = [number for number in _BASIS if number in moved]
    ends = [number for number in numbers if number is not Number.RAMP] or numbers
    verb = "the ramp begins" if ends == [Number.RAMP] else "splitting ends"
    lead = moved[ends[0]]
    what = f"{verb} {bracket_words(lead.head)}, was {bracket_words(lead.base)}"
    return what, ", ".join(_BASIS[number] for number in ends)


def plan_rows(report: History) -> Iterator[_Row]:
    """Return (step, what changed in plans, in how many cases, one of them), newest first.

    Only what begins after `since`. With another backend every fact is another: that alone is told.
    """
    tags = [release.stack for release in report.releases]
    start = -1 if report.since is None else tags.index(report.since)
    folded: dict[tuple[object, ...], list[PlanChange]] = defaultdict(list)
    for change in report.plan_changes:
        if tags.index(change.after) > start:
            told = tuple(c.name if c.name != _CHOSEN else _values([c]) for c in _leading(change))
            folded[-tags.index(change.after), tags.index(change.before), told].append(change)
    for _, group in sorted(folded.items(), key=lambda item: item[0][:2]):
        values = Counter(_values(_leading(change)) for change in group)
        usual, number = values.most_common(1)[0]
        example = next(change for change in group if _values(_leading(change)) == usual)
        share = "" if number == len(group) else f"{number} of "
        yield (
            f"{example.before} -> {example.after}",
            usual,
            f"{share}{counted(len(group), 'case')}",
            str(example.case),
        )


def _leading(change: PlanChange) -> Sequence[Change]:
    return [c for c in change.changes if c.name == _CHOSEN] or change.changes


def _values(changes: Iterable[Change]) -> str:
    return ", ".join(f"{c.name} {_value(c.base)} -> {_value(c.head)}" for c in changes)


def _value(value: object) -> str:
    return "none" if value is None else str(value)
