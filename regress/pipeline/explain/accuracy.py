"""The model of time against recorded times, backend by backend."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from statistics import median
from typing import Final

import numpy as np

from regress.errors import NoDataError
from regress.model.accuracy import LONG_US, Accuracy, BackendError, Ranking
from regress.pipeline.explain.timed import MACHINE, TimedPlan, timed_plans
from workloads.devices import Device, parse_device
from workloads.planner import Plan
from workloads.record import Round
from workloads.simulator.rates import load_rates
from workloads.simulator.simulate import simulate

__all__ = ["Predict", "judge_accuracy", "most_of", "predictor"]

Predict = Callable[[Plan], float]
"""Time of a plan in microseconds, as the model sees it."""
_TIE: Final = 0.01
"""The least floor of a cell's kernel time: differences up to here are never called a change."""
_MOST: Final = 0.9


def predictor(device: Device) -> Predict:
    """Return the model with the stored rates."""
    paths = load_rates().paths
    return lambda plan: simulate(plan, device, paths[plan.path].rates).time_us


def judge_accuracy(rounds: Mapping[str, Sequence[Round]]) -> Accuracy:
    """Hold the stored rates against all recorded decode cells.

    Parameters
    ----------
    rounds
        Of the recorded machine, by stack tag.

    Raises
    ------
    NoDataError
        If there is no decode cell of a path that the model knows.
    """
    device, known = parse_device(MACHINE), load_rates().paths
    timed = [t for t in timed_plans(rounds, device) if t.plan.path in known]
    if not timed:
        msg = "no recorded decode cell to hold the model against"
        raise NoDataError(msg)
    # Releases mostly plan alike: each plan is run once.
    predict = cache(predictor(device))
    predicted_us = {t: predict(t.plan) for t in timed}
    by_backend: dict[str, list[TimedPlan]] = defaultdict(list)
    for one in timed:
        by_backend[one.case.backend].append(one)
    every = [r for found in rounds.values() for r in found]
    return Accuracy(
        gpu=every[-1].machine.gpu,
        stacks=tuple(rounds),
        rounds=len(every),
        median=median(_error(t, predicted_us) for t in timed if t.time_us >= LONG_US),
        backends=tuple(
            _backend_error(name, cells, predicted_us) for name, cells in sorted(by_backend.items())
        ),
        ranking=_ranking(timed, predicted_us),
    )


def most_of(errors: Sequence[float]) -> float:
    """Return the 90th percentile."""
    return float(np.quantile(errors, _MOST))


def _error(timed: TimedPlan, predicted_us: Mapping[TimedPlan, float]) -> float:
    return abs(predicted_us[timed] / timed.time_us - 1)


def _backend_error(
    name: str, cells: Sequence[TimedPlan], predicted_us: Mapping[TimedPlan, float]
) -> BackendError:
    long = [_error(t, predicted_us) for t in cells if t.time_us >= LONG_US]
    short = [_error(t, predicted_us) for t in cells if t.time_us < LONG_US]
    return BackendError(
        backend=name,
        path=" or ".join(sorted({t.plan.path for t in cells})),
        cells=len(long),
        median=median(long) if long else 0.0,
        most=most_of(long) if long else 0.0,
        worst=max(long, default=0.0),
        short_cells=len(short),
        short_median=median(short) if short else None,
    )


def _ranking(timed: Iterable[TimedPlan], predicted_us: Mapping[TimedPlan, float]) -> Ranking:
    races: dict[tuple[str, str], list[TimedPlan]] = defaultdict(list)
    for one in timed:
        races[one.stack, one.case.workload].append(one)
    contested = [race for race in races.values() if len(race) > 1]
    lost = [
        min(race, key=predicted_us.__getitem__).time_us / min(t.time_us for t in race) - 1
        for race in contested
    ]
    return Ranking(
        workloads=len(contested),
        exact=sum(share == 0 for share in lost),
        right=sum(share <= _TIE for share in lost),
        tie=_TIE,
        worst=max(lost, default=0.0),
    )
