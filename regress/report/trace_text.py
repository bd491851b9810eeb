"""The summary of a trace for the terminal."""

from collections.abc import Callable

from rich.console import Console

from regress.model.trace import Spread, TraceBackend, TraceSummary
from regress.report.explain_text import render_model_label
from regress.report.printable import printable
from regress.report.view import View, render_table

__all__ = ["render_trace_text"]

_QUANTILES = ("10 %", "median", "90 %", "99 %", "most")


def render_trace_text(report: TraceSummary, view: View) -> str:
    """Return the summary: what the batches are like, then backend by backend."""
    told = printable(report)

    def write(console: Console) -> None:
        console.print(told.trace, style="bold")
        console.print(f"{told.device} ({told.sms} SMs), {told.shape}")
        part = (
            "" if told.modelled == told.steps else f", {told.modelled:,} of them modelled, evenly"
        )
        steps = "1 step" if told.steps == 1 else f"{told.steps:,} steps"
        console.print(f"{steps}{part}\n")
        rows = (
            ("requests", *_cells(told.requests, "{:,.0f}")),
            ("KV tokens", *_cells(told.kv_tokens, "{:,.0f}")),
            ("longest request's share", *_cells(told.longest_share, "{:.0%}")),
        )
        console.print(render_table(("of a step", *_QUANTILES), rows))
        for one in told.backends:
            _backend(console, one, told)
        console.print(f"\nReproduce: {told.command}")

    return view.draw(write)


def _backend(console: Console, one: TraceBackend, told: TraceSummary) -> None:
    console.print(f"\n{one.backend}", style="bold")
    if one.refused or not (one.time_us and one.imbalance and one.error):
        console.print(f"  cannot be modelled: {one.refused}")
        return
    limit = f", from {one.threshold} requests on that is so for any batch" if one.threshold else ""
    console.print(f"  {one.unsplit:.1%} of the steps split nothing{limit}")
    console.print(
        f"  {one.uneven:.1%} of the steps take more than {told.uneven_from:g}x of what their work, "
        f"spread evenly, would; the most uneven is line {one.worst_line}"
    )
    rows = (
        ("  time of a step, us", *_cells(one.time_us, "{:,.0f}")),
        ("  imbalance", *_cells(one.imbalance, "{:.2f}x")),
    )
    console.print(render_table(("", *_QUANTILES), rows))
    console.print(f"  all steps: {one.total_s:,.2f} s for each layer")
    console.print(f"  {render_model_label(one.error, told.device)}")


def _cells(spread: Spread, layout: str) -> tuple[str, ...]:
    show: Callable[[float], str] = layout.format
    values = (spread.p10, spread.median, spread.p90, spread.p99, spread.most)
    return tuple(map(show, values))
