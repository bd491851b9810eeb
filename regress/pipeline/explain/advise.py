"""What would help a batch, by the model of time: another backend, or two smaller batches."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from regress.pipeline.explain.subject import Subject, plan_subject, run_model
from regress.pipeline.explain.why import UNEVEN
from workloads.backend import Layout, backend
from workloads.simulator import Simulation

__all__ = ["advise"]

_CANDIDATES: Final = ("flashinfer-decode-tc-fa2", "flashinfer-decode-cuda", "fa3-varlen")
_WORTH: Final = 0.9
"""Share of the time now, up to which something is worth saying; the model is no better."""


def advise(subject: Subject, runs: Mapping[str, Simulation | None]) -> tuple[str, ...]:
    """Return a sentence for each explained backend that something would help.

    Parameters
    ----------
    runs
        By backend; None where there is no time.
    """
    known = {name: run for name, run in runs.items() if run}
    others = {name: known.get(name) or _try(subject, name) for name in _CANDIDATES}
    rivals = {name: run for name, run in others.items() if run}
    return tuple(
        sentence
        for name, run in known.items()
        for sentence in (*_another(name, run, rivals), *_smaller(subject, name, run))
    )


def _try(subject: Subject, name: str) -> Simulation | None:
    try:
        return run_model(plan_subject(subject, name), subject)
    except ValueError:
        return None


def _another(name: str, run: Simulation, rivals: Mapping[str, Simulation]) -> Iterator[str]:
    """Say what is faster: on the same KV layout, and on another one if that is faster still."""
    to_beat_us, own = run.time_us, backend(name).layout
    for layout in sorted(Layout, key=lambda one: one is not own):
        fitting = [rival for rival in rivals if backend(rival).layout is layout]
        best = min(fitting, key=lambda rival: rivals[rival].time_us, default=name)
        best_us = rivals[best].time_us if best != name else run.time_us
        if best_us > _WORTH * to_beat_us:
            continue
        to_beat_us = best_us
        label = "" if layout is own else f" (on {layout} KV: not like for like)"
        yield (
            f"Instead of {name}: {best} would take {best_us:,.0f} us instead of "
            f"{run.time_us:,.0f} us, {run.time_us / best_us:.1f}x faster{label}."
        )


def _smaller(subject: Subject, name: str, run: Simulation) -> Iterator[str]:
    """Say what two launches over half of the requests each would take."""
    lengths = sorted(subject.batch.kv_lens, reverse=True)
    if run.imbalance < UNEVEN or len(lengths) < 2:  # noqa: PLR2004 - one request is no two batches
        return
    halves = [replace(subject.batch, kv_lens=tuple(part)) for part in (lengths[::2], lengths[1::2])]
    parts = [_try(replace(subject, batch=half), name) for half in halves]
    times_us = [part.time_us for part in parts if part]
    if len(times_us) == len(halves) and sum(times_us) <= _WORTH * run.time_us:
        sizes = " and ".join(str(len(half.kv_lens)) for half in halves)
        yield (
            f"With {name}: batches of {sizes} requests, one after the other, would take "
            f"{sum(times_us):,.0f} us in all instead of {run.time_us:,.0f} us."
        )
