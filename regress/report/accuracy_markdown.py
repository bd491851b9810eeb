"""The tables of the page about the model of time."""

from regress.model.accuracy import LONG_US, Accuracy, BackendError
from regress.report.markdown import row, table
from workloads.simulator.rates import FittedRates, PathRates

__all__ = ["render_accuracy_blocks"]


def render_accuracy_blocks(told: Accuracy, fitted: FittedRates) -> dict[str, str]:
    """Return the generated parts by the name of their block."""
    return {
        "model-errors": _errors(told),
        "model-ranking": _ranking(told),
        "model-rates": _rates(fitted),
    }


def _errors(told: Accuracy) -> str:
    over = f"cells from {LONG_US:.0f} µs"
    header = table(
        "backend", "path", over, "median", "90 % within", "worst", "faster cells", "median"
    )
    rows = [row(_error_row(one)) for one in told.backends]
    cells = sum(one.cells for one in told.backends)
    last = f"All {cells} cells from {LONG_US:.0f} µs on: median error {told.median:.1%}."
    return "\n".join((*header, *rows, "", last)) + "\n"


def _error_row(one: BackendError) -> tuple[str, ...]:
    short = "" if one.short_median is None else f"{one.short_median:.1%}"
    figures = (f"{share:.1%}" for share in (one.median, one.most, one.worst))
    return (f"`{one.backend}`", one.path, str(one.cells), *figures, str(one.short_cells), short)


def _ranking(told: Accuracy) -> str:
    found = told.ranking
    return (
        f"In {found.right} of {found.workloads} races ({found.right / found.workloads:.1%}) the "
        f"backend that the model puts first is at most {found.tie:.0%} slower than the fastest "
        f"measured one; in {found.exact} it is the very fastest, in the worst race it is "
        f"{found.worst:.1%} slower. Measured on {told.gpu}, {told.rounds} rounds of "
        f"{len(told.stacks)} stacks ({', '.join(told.stacks)}).\n"
    )


def _rates(fitted: FittedRates) -> str:
    titles = ("CTA, tokens/µs", "SM, tokens/µs", "memory", "FP8 KV", "launch", "item", "prepare")
    header = table("path", "cells fitted", *titles, "merge")
    rows = [row((path, *_rates_row(known))) for path, known in fitted.paths.items()]
    basis = (
        f"Fitted on the decode cells of tier {fitted.tier} of stack {fitted.stack}, "
        f"{fitted.rounds} rounds on {fitted.gpu}; overheads in µs, memory as share of the peak."
    )
    return "\n".join((*header, *rows, "", basis)) + "\n"


def _rates_row(known: PathRates) -> tuple[str, ...]:
    r = known.rates
    overheads = (r.launch_us, r.item_us, r.prepare_us, r.merge_us)
    speeds = (f"{r.cta_tokens_us:.1f}", f"{r.sm_tokens_us:.1f}", f"{r.memory:.0%}", f"{r.fp8:.2f}")
    return (str(known.fitted_cells), *speeds, *(f"{us:.1f}" for us in overheads))
