"""A serving trace on a device: what planners make of its steps, and how long they would take."""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from typing import Final

import numpy as np

from regress.model.trace import TRACE_SCHEMA, Spread, TraceBackend, TraceSummary
from regress.pipeline.explain.lengths import Step
from regress.pipeline.explain.limits import split_limit
from regress.pipeline.explain.subject import (
    Subject,
    describe_shape,
    model_error,
    plan_subject,
    run_model,
)
from regress.pipeline.explain.why import UNEVEN

__all__ = ["MOST_MODELLED", "summarise_trace"]

MOST_MODELLED: Final = 6_000_000
"""Requests of all simulated steps and backends together: less than a minute on 2 cores."""
_WORKERS: Final = 2
_CHUNK: Final = 250
_ALONE: Final = 500
"""Simulations that are done sooner than a second process is started."""


@dataclass(frozen=True, slots=True)
class _Modelled:
    time_us: float
    imbalance: float
    split: bool


def summarise_trace(
    subject: Subject, steps: Sequence[Step], backends: Sequence[str], command: str
) -> TraceSummary:
    """Summarise a trace.

    Parameters
    ----------
    subject
        Device, shape and rules; its batch is any step of the trace.
    backends
        Names.

    Raises
    ------
    ValueError
        If a backend is not known.
    """
    counts = [len(step.kv_lens) for step in steps]
    modelled = steps[:: -(-sum(counts) * len(backends) // MOST_MODELLED)]
    totals = [sum(step.kv_lens) for step in steps]
    shares = [max(s.kv_lens) / total for s, total in zip(steps, totals, strict=True)]
    return TraceSummary(
        schema=TRACE_SCHEMA,
        command=command,
        trace=subject.name,
        shape=describe_shape(subject.batch.shape),
        device=subject.device.name,
        sms=subject.device.sms,
        steps=len(steps),
        modelled=len(modelled),
        uneven_from=UNEVEN,
        requests=_spread(counts),
        kv_tokens=_spread(totals),
        longest_share=_spread(shares),
        backends=tuple(_summarise(subject, name, modelled, len(steps)) for name in backends),
    )


def _summarise(subject: Subject, name: str, steps: Sequence[Step], of: int) -> TraceBackend:
    try:
        plan = plan_subject(subject, name)
        run_model(plan, subject)
        every = _model_all(subject, name, steps)
    except ValueError as error:
        return TraceBackend(name, refused=str(error))
    limit = split_limit(plan, subject.device)
    times_us = [one.time_us for one in every]
    imbalances = [one.imbalance for one in every]
    return TraceBackend(
        backend=name,
        threshold=limit.requests if limit else None,
        unsplit=float(np.mean([not one.split for one in every])),
        uneven=float(np.mean(np.array(imbalances) > UNEVEN)),
        time_us=_spread(times_us),
        imbalance=_spread(imbalances),
        total_s=float(np.mean(times_us)) * of / 1e6,
        worst_line=steps[int(np.argmax(imbalances))].line,
        error=model_error(plan.path),
    )


def _model_all(subject: Subject, name: str, steps: Sequence[Step]) -> list[_Modelled]:
    model = partial(_model, subject, name)
    if len(steps) <= _ALONE:
        return list(map(model, steps))
    # Not a fork: threads of numpy's libraries may hold locks.
    with ProcessPoolExecutor(_WORKERS, get_context("spawn")) as pool:
        return list(pool.map(model, steps, chunksize=_CHUNK))


def _model(subject: Subject, name: str, step: Step) -> _Modelled:
    here = replace(subject, batch=replace(subject.batch, kv_lens=step.kv_lens))
    plan = plan_subject(here, name)
    run = run_model(plan, here)
    return _Modelled(run.time_us, run.imbalance, plan.splits_kv)


def _spread(values: Sequence[float]) -> Spread:
    return Spread(*(float(q) for q in np.quantile(values, (0.1, 0.5, 0.9, 0.99, 1))))
