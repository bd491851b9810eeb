"""The whole of `explain` for one batch: a batch and a device in, an explanation out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from regress.model.explain import (
    EXPLAIN_SCHEMA,
    BackendExplained,
    Explanation,
    Measured,
    PlanTold,
    Predicted,
)
from regress.pipeline.explain.advise import advise
from regress.pipeline.explain.limits import Limit, split_limit
from regress.pipeline.explain.subject import (
    Subject,
    describe_shape,
    model_error,
    plan_subject,
    run_model,
)
from regress.pipeline.explain.why import why_plan, why_profiler, why_time
from workloads.planner.plan import Plan
from workloads.simulator import Simulation

__all__ = ["DECODE_BACKENDS", "PREFILL_BACKENDS", "Explained", "explain", "explain_backend"]

PREFILL_BACKENDS: Final = ("flashinfer-prefill-fa2", "flashinfer-prefill-fa3", "fa3-varlen")
DECODE_BACKENDS: Final = ("flashinfer-decode-tc-fa2", "flashinfer-decode-cuda", "fa3-varlen")


@dataclass(frozen=True, slots=True)
class Explained:
    """A backend's part of the explanation, and the run to draw if there is one."""

    told: BackendExplained
    run: Simulation | None = None


def explain(subject: Subject, parts: Iterable[Explained], command: str) -> Explanation:
    """Put together what was found out about each backend, and add advice."""
    found, batch = tuple(parts), subject.batch
    return Explanation(
        schema=EXPLAIN_SCHEMA,
        command=command,
        workload=subject.name,
        shape=describe_shape(batch.shape),
        device=subject.device.name,
        sms=subject.device.sms,
        flashinfer=subject.flashinfer,
        requests=len(batch.kv_lens),
        kv_tokens=sum(batch.kv_lens),
        longest_tokens=max(batch.kv_lens),
        backends=tuple(part.told for part in found),
        advice=advise(subject, {part.told.backend: part.run for part in found}),
    )


def explain_backend(subject: Subject, name: str, measured: Mapping[str, Measured]) -> Explained:
    """Plan a batch on one backend and run it through the model.

    Parameters
    ----------
    measured
        Recorded times of this workload, by backend.
    """
    known = measured.get(name)
    try:
        plan = plan_subject(subject, name)
    except ValueError as error:
        return Explained(BackendExplained(name, refused=str(error), measured=known))
    limit = split_limit(plan, subject.device)
    why, run, unpredicted = why_plan(plan, limit), None, ""
    try:
        run = run_model(plan, subject)
    except ValueError as error:
        unpredicted = str(error)
    told = BackendExplained(
        backend=name,
        path=plan.path,
        unpredicted=unpredicted,
        plan=_plan(plan, limit, run),
        predicted=_predicted(run) if run else None,
        measured=known,
        why=f"{why}, and {why_time(run)}." if run else f"{why}.",
        profiler=why_profiler(plan),
    )
    return Explained(told, run)


def _plan(plan: Plan, limit: Limit | None, run: Simulation | None) -> PlanTold:
    lengths = plan.batch.kv_lens
    return PlanTold(
        tasks=len(lengths) * plan.q_tiles,
        max_splits=plan.max_splits,
        longest_splits=plan.splits[lengths.index(max(lengths))],
        chunk_tokens=int(plan.items().kv_tokens.max()),
        work_items=plan.work_items,
        heads=plan.heads,
        ctas=plan.ctas,
        waves=plan.ctas / run.slots if run else None,
        grid=plan.grid,
        schedule=plan.schedule,
        threshold=limit.requests if limit else None,
        kernel=plan.kernel,
        prepare=plan.prepare,
        merge=plan.merge,
    )


def _predicted(run: Simulation) -> Predicted:
    return Predicted(
        time_us=run.time_us,
        overhead_us=run.before_us,
        merge_us=run.after_us,
        longest_us=run.longest_us,
        longest_tokens=int(run.tokens[run.longest]),
        idle_share=run.idle_share,
        imbalance=run.imbalance,
        error=model_error(run.plan.path),
    )
