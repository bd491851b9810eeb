"""Thresholds over all releases: which of them moved, by plans, by times and by models."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from regress.config import ThresholdsRule
from regress.detect.history.moves import moves_of
from regress.detect.threshold import numbers_of
from regress.model.history_moves import Number, ThresholdMove
from regress.model.line import Axis, Line
from regress.model.thresholds import Bracket
from regress.pipeline.history.axes import Axes, Rounds, axes_of, line_of, rounds_of
from regress.pipeline.history.chain import Chain
from regress.pipeline.thresholds.predict import Planner, device_named, occupancies_of
from workloads.record import Case

__all__ = ["Moves", "find_moves"]

_Numbers = Mapping[Number, Bracket | None]


@dataclass(frozen=True, slots=True)
class Moves:
    """What became of thresholds.

    Attributes
    ----------
    warnings
        Where models are not believed, as they contradict recorded plans.
    """

    moves: tuple[ThresholdMove, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Stack:
    """The rounds of one release, and the model of its planners.

    Attributes
    ----------
    planner
        None if the GPU is not known.
    believed, contradicted
        Backends of which it gives every recorded fact, and those of which it does not.
    """

    tag: str
    rounds: Rounds
    planner: Planner | None
    believed: frozenset[str] = frozenset()
    contradicted: frozenset[str] = frozenset()

    def predicted(
        self, axis: Axis, axes: Axes, rule: ThresholdsRule, guess: int | None
    ) -> Bracket | None:
        """Return where the model stops splitting, if the axis' shape ran and it is believed."""
        if self.planner is None or axis.backend not in self.believed:
            return None
        if not self.rounds.timed(axes.related[axis]):
            return None
        return self.planner.threshold(axis, rule, guess)


def find_moves(chain: Chain, wanted: Collection[Case], rule: ThresholdsRule) -> Moves:
    """Compare every axis of the wanted cases from release to release.

    A model is asked only for releases that ran the axis' shape on its backend, and believed only if
    it gives every fact that their rounds recorded of plans of that backend.
    """
    axes = axes_of(chain.columns, wanted)
    stacks = [_stack(chain, tag, axes.backends) for tag in chain.tags]
    moves = (move for axis in sorted(axes.skewed) for move in _moves(axis, axes, stacks, rule))
    return Moves(tuple(moves), tuple(_doubts(stacks)))


def _stack(chain: Chain, tag: str, backends: Collection[str]) -> _Stack:
    setup, rounds = dict(chain.setup), rounds_of(chain.columns, tag)
    sms = int(setup["SMs"])
    device = device_named(str(setup["gpu"]), sms)
    if device is None:
        return _Stack(tag, rounds, None)
    planned = [*rounds.planned(backends)]
    versions = dict(chain.columns.heads[rounds.rows[-1]].imported)
    planner = Planner(device, versions, occupancies_of(planned, sms))
    held = [(case.backend, planner.reproduces(case, facts)) for case, facts in planned]
    right, wrong = ({name for name, same in held if same is told} for told in (True, False))
    return _Stack(tag, rounds, planner, frozenset(right - wrong), frozenset(wrong))


def _moves(
    axis: Axis, axes: Axes, stacks: Sequence[_Stack], rule: ThresholdsRule
) -> Iterator[ThresholdMove]:
    found: list[_Numbers] = []
    guess = None
    for stack in stacks:
        predicted = stack.predicted(axis, axes, rule, guess)
        guess = predicted.first if predicted else guess
        found.append(_numbers(line_of(axis, axes, stack.rounds), predicted, rule))
    for number in Number:
        for before, after in moves_of([told.get(number) for told in found]):
            base, head = found[before][number], found[after][number]
            if base is not None and head is not None:
                tags = stacks[before].tag, stacks[after].tag
                yield ThresholdMove(axis, number, *tags, base, head)


def _numbers(line: Line | None, predicted: Bracket | None, rule: ThresholdsRule) -> _Numbers:
    if line is None:
        return {Number.PREDICTED: predicted}
    told = numbers_of(line, predicted, rule)
    return {number: getattr(told, number) for number in Number}


def _doubts(stacks: Sequence[_Stack]) -> Iterator[str]:
    found: dict[str, list[str]] = defaultdict(list)
    for stack in stacks:
        for name in sorted(stack.contradicted):
            found[name].append(stack.tag)
    for name, tags in found.items():
        yield (
            f"the model of {name} does not give every plan recorded of {', '.join(tags)}: "
            "thresholds that moved there are not known but from plans and times"
        )
