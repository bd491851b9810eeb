"""An explanation for the terminal."""

from collections.abc import Iterator, Mapping

from rich.console import Console

from regress.counted import counted
from regress.model.explain import BackendExplained, Explanation, ModelError
from regress.report.printable import printable
from regress.report.timeline import TIMELINE_KEY, render_timeline
from regress.report.view import View, render_table
from workloads.simulator import Simulation

__all__ = ["render_explain_text", "render_model_label"]


def render_explain_text(
    report: Explanation, view: View, runs: Mapping[str, Simulation | None]
) -> str:
    """Return the report with a timeline of each backend.

    Parameters
    ----------
    runs
        To draw, by backend; none for a report without timelines.
    """
    told = printable(report)

    def write(console: Console) -> None:
        _head(console, told)
        for one in told.backends:
            _backend(console, one, runs.get(one.backend))
        if told.advice:
            console.print("\nWhat would help, by the model:", style="bold")
            for line in told.advice:
                console.print(f"  {line}")
        console.print(f"\nReproduce: {told.command}")

    return view.draw(write)


def render_model_label(error: ModelError, device: str) -> str:
    """Return how far a predicted time can be trusted."""
    other = "" if device == "h200" else f"; never held against a measurement on {device}"
    return (
        f"predicted by a model, median error {error.median:.1%} on {error.cells} recorded "
        f"{error.gpu} decode cells{other}"
    )


def _head(console: Console, told: Explanation) -> None:
    console.print(told.workload, style="bold")
    rules = f"FlashInfer {told.flashinfer}" if told.flashinfer else "the newest rules known"
    console.print(f"{told.device} ({told.sms} SMs), {told.shape}; planned by {rules}")
    console.print(
        f"{counted(told.requests, 'request')}, {told.kv_tokens:,} KV tokens, the longest "
        f"{told.longest_tokens:,} ({told.longest_tokens / told.kv_tokens:.0%})"
    )
    done = [b for b in told.backends if b.plan]
    if len(done) > 1:
        console.print()
        console.print(render_table(_TITLES, [_row(b) for b in done]))


_TITLES = ("backend", "splits", "work items", "CTAs", "idle", "imbalance", "predicted", "measured")


def _row(one: BackendExplained) -> tuple[str, ...]:
    plan, model = one.plan, one.predicted
    return (
        one.backend,
        str(plan.max_splits) if plan else "",
        str(plan.work_items) if plan else "",
        str(plan.ctas) if plan else "",
        f"{model.idle_share:.0%}" if model else "",
        f"{model.imbalance:.1f}x" if model else "",
        f"{model.time_us:,.0f} us" if model else "",
        f"{one.measured.time_us:,.0f} us" if one.measured else "",
    )


def _backend(console: Console, one: BackendExplained, run: Simulation | None) -> None:
    console.print(f"\n{one.backend}", style="bold")
    if one.refused:
        console.print(f"  cannot run: {one.refused}")
        return
    console.print(f"  {one.why}")
    for line in _facts(one, run):
        console.print(f"  {line}")
    if run:
        console.print(f"  SMs over time. {TIMELINE_KEY}")
        console.print(render_timeline(run), end="")


def _facts(one: BackendExplained, run: Simulation | None) -> Iterator[str]:
    plan, model = one.plan, one.predicted
    if plan:
        waves = f", {plan.waves:.1f} waves" if plan.waves else ""
        yield (
            f"Plan: {counted(plan.tasks, 'task')} a head, at most "
            f"{counted(plan.max_splits, 'split')}, chunks up to {plan.chunk_tokens:,} tokens, "
            f"{plan.work_items} work items x "
            f"{plan.heads} heads = {plan.ctas} CTAs{waves}"
        )
        if plan.threshold:
            yield f"Threshold: from {plan.threshold} requests on nothing is split"
        kernels = " + ".join(k for k in (plan.prepare, plan.kernel, plan.merge) if k)
        yield f"Kernels: {kernels}, grid {'x'.join(map(str, plan.grid))}"
    if one.profiler:
        yield one.profiler
    if model and run:
        yield (
            f"Time: {model.time_us:,.1f} us ({model.overhead_us:.1f} launch, {model.merge_us:.1f} "
            f"merge, longest CTA {model.longest_us:,.1f}) "
            f"{render_model_label(model.error, run.device.name)}"
        )
    if one.unpredicted:
        yield f"Time: not predicted, {one.unpredicted}"
    if one.measured:
        known = one.measured
        yield (
            f"Measured: {known.time_us:,.1f} us ({known.gpu}, stack {known.stack}, "
            f"{counted(known.rounds, 'round')})"
        )
