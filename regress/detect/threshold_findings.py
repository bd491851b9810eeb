"""Detector of thresholds: what the numbers of an axis mean - moved, disagreeing, not known."""

from collections.abc import Iterator
from dataclasses import dataclass

from regress.config import ThresholdsRule
from regress.counted import counted
from regress.detect.threshold import ends
from regress.model.finding import RoundIds
from regress.model.reason import REASONS, Reason, ReasonCode
from regress.model.thresholds import (
    AxisNumbers,
    Bracket,
    Height,
    Numbers,
    StackPair,
    ThresholdFinding,
)

__all__ = ["Judged", "detect_thresholds"]


@dataclass(frozen=True, slots=True)
class Judged:
    """One axis with the ids of the rounds behind its numbers.

    Attributes
    ----------
    refused
        Tags of stacks that tried it and could not run any of it.
    """

    numbers: AxisNumbers
    stacks: StackPair
    rounds: RoundIds
    refused: frozenset[str] = frozenset()

    def say(
        self, detector: str, code: ReasonCode, message: str, *, stack: str = "", gates: bool = True
    ) -> ThresholdFinding:
        """Return a finding about this axis, of head if no stack is named."""
        return ThresholdFinding(
            detector=detector,
            axis=self.numbers.axis,
            stack=stack or self.stacks.head,
            verdict=REASONS[code].verdict,
            reason=Reason(code, message),
            rounds=self.rounds,
            gates=gates,
        )


def detect_thresholds(judged: Judged, rule: ThresholdsRule) -> Iterator[ThresholdFinding]:
    """Compare the stacks along an axis, and each stack's numbers with each other."""
    numbers, stacks = judged.numbers, judged.stacks
    sides = [(stacks.head, numbers.head)]
    if stacks.base is not None:
        sides.insert(0, (stacks.base, numbers.base))
        yield from _compared(judged, rule)
    for tag, side in sides:
        if side is not None:
            yield from _agreeing(judged, tag, side)
    if stacks.base is None and _place(numbers.head) is None:
        message = "no round tells where splitting ends: neither facts of the plan nor times"
        yield judged.say("coverage", ReasonCode.AXIS_MISSING, message)


def _place(side: Numbers | None) -> Bracket | None:
    """Return where splitting ends: by the plans if they tell, else by the times."""
    return None if side is None else side.planned or side.measured


def _compared(judged: Judged, rule: ThresholdsRule) -> Iterator[ThresholdFinding]:
    base, head = judged.numbers.base, judged.numbers.head
    if _place(base) is None or _place(head) is None:
        yield _missing(judged)
    if base is None or head is None:
        return
    if _place(base) is not None and _place(head) is not None:
        yield _moved(judged, base, head)
    if base.ramp and head.ramp and base.ramp.apart(head.ramp):
        earlier = head.ramp.surely_before(base.ramp)
        code = ReasonCode.RAMP_EARLIER if earlier else ReasonCode.RAMP_LATER
        message = f"the ramp begins {_where(base.ramp)} in base, {_where(head.ramp)} in head"
        yield judged.say("ramp", code, message)
    # Penalties of different batch sizes are different questions: there `moved` has spoken.
    if base.height and head.height and base.height.batch == head.height.batch:
        yield _height(judged, base.height, head.height, rule)


def _missing(judged: Judged) -> ThresholdFinding:
    """Say why the stacks cannot be compared: not measured, or not possible."""
    stacks = judged.stacks
    sides = (str(stacks.base), judged.numbers.base), (stacks.head, judged.numbers.head)
    lacking = [tag for tag, side in sides if _place(side) is None]
    code, told = ReasonCode.AXIS_MISSING, "nothing tells where splitting ends in"
    if lacking == [stacks.base] and stacks.base in judged.refused:
        code, told = ReasonCode.AXIS_APPEARED, "could not be run in"
    elif lacking == [stacks.head] and stacks.head in judged.refused:
        code, told = ReasonCode.AXIS_GONE, "can no longer be run in"
    return judged.say("coverage", code, f"{told} {' and '.join(lacking)}")


def _moved(judged: Judged, base: Numbers, head: Numbers) -> ThresholdFinding:
    both = base.planned, head.planned
    source = "facts of the plans"
    if None in both:
        both, source = (base.measured, head.measured), "times"
    before, after = both
    if before is None or after is None:
        message = "base and head tell it in different ways: one by its plans, the other by times"
        return judged.say("moved", ReasonCode.THRESHOLD_UNCLEAR, message)
    if after.surely_before(before):
        code = ReasonCode.THRESHOLD_EARLIER
    elif before.surely_before(after):
        code = ReasonCode.THRESHOLD_LATER
    elif before == after and before.exact:
        code = ReasonCode.THRESHOLD_KEPT
    elif before == after and None in {before.last, before.first}:
        code = ReasonCode.THRESHOLD_OUTSIDE
    else:
        code = ReasonCode.THRESHOLD_UNCLEAR
    places = f"{_where(before)} in base, {_where(after)} in head"
    if before == after:
        places = f"{_where(after)} in both"
    message = f"splitting ends {places}, by {source}"
    return judged.say("moved", code, message)


def _height(judged: Judged, base: Height, head: Height, rule: ThresholdsRule) -> ThresholdFinding:
    (base_low, base_high), (head_low, head_high) = (
        ends(side.ratio, rule.unproved) for side in (base, head)
    )
    margin, proved = 1 + rule.height_margin, base.ratio.confidence and head.ratio.confidence
    code = ReasonCode.CLIFF_UNCLEAR
    if head_low > base_high * margin:
        code = ReasonCode.CLIFF_HIGHER
    elif base_low > head_high * margin:
        code = ReasonCode.CLIFF_LOWER
    elif proved and head_high <= base_low * margin and base_high <= head_low * margin:
        code = ReasonCode.CLIFF_KEPT
    told = " -> ".join(
        f"{side.ratio.estimate:.2f}x at {side.batch} ({counted(side.rounds, 'round')})"
        for side in (base, head)
    )
    return judged.say("height", code, f"skewed over uniform time {told}")


def _agreeing(judged: Judged, tag: str, side: Numbers) -> Iterator[ThresholdFinding]:
    planned, measured, predicted = side.planned, side.measured, side.predicted
    if planned and measured:
        odd = planned.apart(measured)
        code = ReasonCode.PLAN_UNLIKE_TIMES if odd else ReasonCode.PLAN_AS_TIMED
        message = f"by the plans {_where(planned)}, by the times {_where(measured)}"
        yield judged.say("measured", code, message, stack=tag)
    if planned and predicted:
        odd = planned.apart(predicted)
        code = ReasonCode.PLAN_UNLIKE_MODEL if odd else ReasonCode.PLAN_AS_PREDICTED
        message = f"by the plans {_where(planned)}, by the model {_where(predicted)}"
        yield judged.say("predicted", code, message, stack=tag)


def _where(bracket: Bracket) -> str:
    if bracket.exact:
        return f"at {bracket.first}"
    if bracket.first is None:
        return "nowhere" if bracket.last is None else f"nowhere up to {bracket.last}"
    return (
        f"at {bracket.first} or below"
        if bracket.last is None
        else (f"above {bracket.last}, at {bracket.first} at the latest")
    )
