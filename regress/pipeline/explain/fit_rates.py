"""Fit the rates of the model of time to recorded decode cells; needs scipy."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import exp, log
from statistics import fmean, median
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from regress.errors import NoDataError
from regress.model.accuracy import LONG_US
from regress.output import write_file
from regress.pipeline.explain.accuracy import most_of
from regress.pipeline.explain.timed import MACHINE, TimedPlan, timed_plans
from regress.stats.rates import require_scipy
from workloads import catalog
from workloads.devices import Device, parse_device
from workloads.record import Round
from workloads.simulator.rates import RATES_FILE, FittedRates, PathRates, Rates
from workloads.simulator.simulate import simulate

__all__ = ["fit_rates", "write_rates"]

Logs = npt.NDArray[np.float64]
_STACK: Final = "v0.6.1"
_TIER: Final = "nightly"
_EVALUATIONS: Final = 400
_START: Final = Rates(
    cta_tokens_us=80,
    sm_tokens_us=120,
    memory=0.9,
    fp8=0.7,
    launch_us=15,
    item_us=0.5,
    prepare_us=3,
    merge_us=4,
)
_SHARED: Final = ("cta_tokens_us", "launch_us", "item_us")
_FREE: Final = {
    "cuda": (*_SHARED, "sm_tokens_us", "memory", "fp8", "merge_us"),
    "fa2": (*_SHARED, "sm_tokens_us", "memory", "fp8", "merge_us"),
    # One CTA on each SM, KV read by all heads of a group at once: neither limit is ever seen.
    "fa3": _SHARED,
    "flash-attn-3": (*_SHARED, "memory", "prepare_us", "merge_us"),
}
"""What is fitted of each path. The rest is nothing that its recorded cells could tell."""


def fit_rates(rounds: Mapping[str, Sequence[Round]]) -> FittedRates:
    """Fit each path on the nightly decode cells of one stack, and judge it on those of all.

    The mean of |log(predicted / measured)| is made small, so that no cell outweighs the others.

    Parameters
    ----------
    rounds
        Of the recorded machine, by stack tag.

    Raises
    ------
    UsageError
        If scipy is not installed.
    NoDataError
        If a path has no cell.
    """
    require_scipy()
    device = parse_device(MACHINE)
    nightly = {entry.case for entry in catalog.cases(_TIER)}
    cells: dict[str, list[TimedPlan]] = defaultdict(list)
    for timed in timed_plans(rounds, device):
        cells[timed.plan.path].append(timed)
    paths = {}
    for path in _FREE:
        chosen = [t for t in cells[path] if t.stack == _STACK and t.case in nightly]
        if not chosen:
            msg = f"no recorded {_TIER} cell of {_STACK} runs {path}: nothing to fit it on"
            raise NoDataError(msg)
        paths[path] = _judged(_fit(path, chosen, device), chosen, cells[path], device)
    every = [r for found in rounds.values() for r in found]
    gpu = every[-1].machine.gpu
    return FittedRates(gpu, device.name, _STACK, _TIER, len(rounds[_STACK]), paths)


def write_rates(fitted: FittedRates) -> None:
    """Store rates where the model reads them.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    data = msgspec.json.format(msgspec.json.encode(fitted), indent=1)
    write_file(data.decode() + "\n", RATES_FILE)


def _fit(path: str, cells: Sequence[TimedPlan], device: Device) -> Rates:
    from scipy.optimize import minimize

    names = _FREE[path]

    def loss(logs: Logs) -> float:
        return fmean(_log_errors(_rates(names, logs), cells, device))

    found = np.log([getattr(_START, name) for name in names])
    # One start can end in a shallow valley of so flat a loss; a second one from there does not.
    for _ in range(2):
        found = minimize(
            loss,
            found,
            method="Nelder-Mead",
            options={"maxfev": _EVALUATIONS, "xatol": 1e-3, "fatol": 1e-5},
        ).x
    return _rates(names, found)


def _rates(names: Sequence[str], logs: Logs) -> Rates:
    """Return rates with four digits of what is fitted and what follows from it."""
    fitted = {name: float(f"{exp(value):.4g}") for name, value in zip(names, logs, strict=True)}
    fitted["memory"] = min(fitted.get("memory", _START.memory), 1.0)
    if "sm_tokens_us" not in names:
        fitted["sm_tokens_us"] = fitted["cta_tokens_us"]
    idle = {name: 0.0 for name in ("prepare_us", "merge_us") if name not in names}
    return msgspec.structs.replace(_START, **fitted, **idle)


def _log_errors(rates: Rates, cells: Sequence[TimedPlan], device: Device) -> list[float]:
    return [abs(log(simulate(t.plan, device, rates).time_us / t.time_us)) for t in cells]


def _judged(
    rates: Rates, fitted: Sequence[TimedPlan], cells: Sequence[TimedPlan], device: Device
) -> PathRates:
    long = [t for t in cells if t.time_us >= LONG_US]
    errors = [abs(simulate(t.plan, device, rates).time_us / t.time_us - 1) for t in long]
    return PathRates(
        rates=rates,
        fitted_cells=len(fitted),
        cells=len(errors),
        median_error=float(f"{median(errors):.3g}"),
        most_error=float(f"{most_of(errors):.3g}"),
    )
