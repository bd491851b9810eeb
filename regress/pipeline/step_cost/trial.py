"""How far interpolated step costs are off: recorded cases are left out and interpolated."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from regress.pipeline.ab.runs import looked_again
from regress.pipeline.cells import index
from regress.pipeline.step_cost.parts import interpolate
from regress.pipeline.step_cost.times import Shelf
from regress.pipeline.thresholds.lines import parsed
from workloads.record import Round
from workloads.workload import Phase

__all__ = ["Trial", "try_out"]


@dataclass(frozen=True, slots=True)
class Trial:
    """Relative errors of interpolated kernel times.

    Attributes
    ----------
    cases
        Decode cases with times, and those of them that have neighbours the planner treats alike.
    """

    cases: int
    tried: int
    median: float
    most: float


def try_out(tag: str, rounds: Sequence[Round]) -> Trial:
    """Interpolate every decode case of a stack from the others.

    Raises
    ------
    ValueError
        If none has neighbours.
    """
    usable = [r for r in rounds if not looked_again(r)]
    shelf = Shelf(tag, usable, index(usable), {}, None)
    errors = list(_errors(shelf))
    known = [error for error in errors if error is not None]
    if not known:
        msg = f"no decode case of {tag} lies between others"
        raise ValueError(msg)
    return Trial(len(errors), len(known), median(known), max(known))


def _errors(shelf: Shelf) -> Iterator[float | None]:
    for case in shelf.found:
        workload, timed = parsed(case.workload), shelf.timed(case)
        if workload.phase is not Phase.DECODE or timed is None:
            continue
        rest = {other: seen for other, seen in shelf.found.items() if other != case}
        sides = interpolate(workload, case.backend, replace(shelf, found=rest))
        if sides is None:
            yield None
        else:
            between = sides.between(sides.low.kernel_us, sides.high.kernel_us)
            yield abs(between / timed.kernel_us - 1)
