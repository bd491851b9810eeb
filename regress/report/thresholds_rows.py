"""Rows of the table of thresholds, in the words that every format uses."""

from collections.abc import Callable, Iterator
from typing import Final

from regress.errors import ExitCode
from regress.model.reason import ReasonCode
from regress.model.thresholds import AxisNumbers, Bracket, Height, Numbers, ThresholdsReport

__all__ = ["bracket_words", "header", "render_action", "render_bracket", "render_rows"]

_HEADER: Final = (
    *("backend", "mode", "distribution", "planned", "measured", "predicted"),
    *("ramp", "height"),
)
_MOVED: Final = {
    ReasonCode.THRESHOLD_KEPT: "no",
    ReasonCode.THRESHOLD_EARLIER: "earlier",
    ReasonCode.THRESHOLD_LATER: "later",
    ReasonCode.THRESHOLD_OUTSIDE: "outside",
    ReasonCode.THRESHOLD_UNCLEAR: "unclear",
    ReasonCode.AXIS_MISSING: "no data",
    ReasonCode.AXIS_APPEARED: "new",
    ReasonCode.AXIS_GONE: "gone",
}
_NOTHING: Final = "-"
_ACTIONS: Final = {
    ExitCode.PASS: "nothing moved, and plans, times and models agree.",
    ExitCode.REGRESSION: "a threshold or a cliff got worse: see below.",
    ExitCode.UNDECIDED: "some of it could not be decided: see below.",
    ExitCode.NO_DATA: "measure what is missing: some lines have no data.",
}


def header(report: ThresholdsReport) -> tuple[str, ...]:
    """Return the titles of the table: with a base it also says whether the threshold moved."""
    return _HEADER if report.stacks.base is None else (*_HEADER, "moved")


def render_action(report: ThresholdsReport) -> str:
    """Return the verdict as a sentence."""
    if report.stacks.base is None and report.exit_code is ExitCode.PASS:
        return "plans, times and models agree."
    return _ACTIONS[report.exit_code]


def render_rows(report: ThresholdsReport) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each line's shape with tokens, and its row below `header`."""
    moved = {f.axis: _MOVED[f.reason.code] for f in report.findings if f.reason.code in _MOVED}
    for numbers in report.axes:
        axis = numbers.axis
        yield (
            f"{axis.shape}, {axis.tokens:,} KV tokens",
            (
                axis.backend,
                axis.mode,
                axis.distribution,
                _both(numbers, report, lambda side: render_bracket(side.planned)),
                _both(numbers, report, lambda side: render_bracket(side.measured)),
                _both(numbers, report, lambda side: render_bracket(side.predicted)),
                _both(numbers, report, lambda side: render_bracket(side.ramp)),
                _both(numbers, report, lambda side: _height(side.height)),
                *(() if report.stacks.base is None else (moved.get(axis, _NOTHING),)),
            ),
        )


def _both(numbers: AxisNumbers, report: ThresholdsReport, told: Callable[[Numbers], str]) -> str:
    """Return what head tells; `base -> head` where base tells something else."""
    head = told(numbers.head) if numbers.head else _NOTHING
    if report.stacks.base is None:
        return head
    base = told(numbers.base) if numbers.base else _NOTHING
    return head if base == head else f"{base} -> {head}"


def render_bracket(bracket: Bracket | None) -> str:
    """Return e.g. `66` if it is exact, else `65-66` for its possible places."""
    if bracket is None or bracket == Bracket(None, None):
        return _NOTHING
    if bracket.exact:
        return str(bracket.first)
    if bracket.first is None:
        return f">{bracket.last}"
    return f"<={bracket.first}" if bracket.last is None else f"{bracket.last + 1}..{bracket.first}"


def bracket_words(bracket: Bracket | None) -> str:
    """Return at which batch size something begins, as far as it is known."""
    if bracket is None:
        return "not known"
    if bracket.first is None:
        return f"not up to {bracket.last}" if bracket.last is not None else "not known"
    if bracket.last is None:
        return f"at {bracket.first} or below"
    if bracket.exact:
        return f"at {bracket.first}"
    return f"from {bracket.last + 1} to {bracket.first}"


def _height(height: Height | None) -> str:
    if height is None:
        return _NOTHING
    ratio = height.ratio
    told = f"{ratio.estimate:.2f}x"
    return told if ratio.low is None else f"{told} [{ratio.low:.2f}, {ratio.high:.2f}]"
