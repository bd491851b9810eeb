"""Sentences and table rows of `step-cost`, in the words that every format uses."""

from collections.abc import Iterator

from regress.counted import counted
from regress.model.finding import Ratio
from regress.model.step_cost import (
    BackendCost,
    Choice,
    Part,
    Source,
    StackCost,
    StepCostReport,
    Upgrade,
)
from workloads.backend import Layout

__all__ = [
    "CHOICES",
    "COSTS",
    "UPGRADES",
    "render_batches",
    "render_best",
    "render_choices",
    "render_costs",
    "render_headline",
    "render_lacking",
    "render_loads",
    "render_profile",
    "render_upgrades",
]

COSTS = ("backend", "ms a step", "kernels", "plan()", "known by", "note")
CHOICES = ("choice", "takes", "ms a step", "more than the best", "over the best", "best")
UPGRADES = ("backend", "verdict", "before, ms", "after, ms", "after / before", "cells")
_NOTHING = "-"
_HOW = {
    Source.MEASURED: "by measurement",
    Source.INTERPOLATED: "between measured batches",
    Source.MODEL: "by a model, not by measurement",
}
_NOT_LIKE = "not like for like: contiguous KV"


def render_profile(report: StepCostReport) -> str:
    """Return the profile in one line."""
    p = report.profile
    kv_type = "" if p.kv_dtype == p.dtype else f", {p.kv_dtype} KV"
    return (
        f"{p.name}, {p.mode}, TP {p.tp}: {counted(p.layers, 'layer')}, {p.q_heads}/{p.kv_heads} "
        f"heads a GPU, head dimension {p.head_dim}, {p.dtype}{kv_type}, page {p.page_size}; on "
        f"{report.machine} ({report.setup['gpu']})"
    )


def render_headline(report: StepCostReport) -> str:
    """Return the answer in one line."""
    if report.verdict is not None:
        return f"{report.verdict}  {report.stacks.base} -> {report.stacks.head}"
    return render_best(report.costs[-1])


def render_best(cost: StackCost) -> str:
    """Return which backend is best under a stack, and by what."""
    told = next((b for b in cost.backends if b.backend == cost.best), None)
    if told is None or told.step_us is None:
        return f"{cost.stack}: no backend's step cost is known"
    cheapest = f"{_ms(told.step_us)} ms of attention a step with {told.backend}"
    text = f"{cost.stack}: {cheapest}, best {_HOW[told.source]}"
    each = cost.best_each_us
    if each is not None and any(load.best != told.backend for load in cost.loads):
        text += f"; {_ms(each)} ms with the best backend of each batch"
    if cost.best_any is not None:
        other = next(b for b in cost.backends if b.backend == cost.best_any)
        text += f"; {_ms(other.step_us)} ms with {other.backend} ({_NOT_LIKE})"
    return text


def render_costs(cost: StackCost) -> Iterator[tuple[str, ...]]:
    """Yield a row below `COSTS` for each backend."""
    for told in cost.backends:
        yield (
            told.backend,
            _ms(told.step_us),
            _ms(told.kernel_us),
            _ms(told.plan_us),
            told.source if told.source.by_rounds else f"{told.source}: {1 - told.covered:.0%}",
            ", ".join(_notes(told, cost.campaign)),
        )


def _notes(told: BackendCost, campaign: str) -> Iterator[str]:
    if told.resolved:
        yield f"is {' or '.join(told.resolved)}"
    if told.layout is not Layout.PAGED:
        yield _NOT_LIKE
    elsewhere = [part.campaigns for part in told.parts if {*part.campaigns} - {campaign}]
    if elsewhere:
        others = dict.fromkeys(one for campaigns in elsewhere for one in campaigns)
        names = " and ".join(name for name in others if name != campaign)
        yield f"{len(elsewhere)} of {len(told.parts)} from campaign {names}"


def render_choices(cost: StackCost) -> Iterator[tuple[str, ...]]:
    """Yield a row below `CHOICES` for `auto` and each policy."""
    for choice in cost.choices:
        known = choice.ratio is not None
        yield (
            choice.chooser if choice.policy else "auto",
            choice.picked or _NOTHING,
            _ms(choice.step_us),
            _more(choice) if known else choice.note,
            _ratio(choice.ratio),
            _best_of(choice),
        )


def _more(choice: Choice) -> str:
    extra, best = choice.extra_us or 0.0, choice.best_us or 1.0
    return f"{extra / 1000:+.3f} ms ({extra / best:+.1%})"


def _best_of(choice: Choice) -> str:
    if choice.best is None:
        return _NOTHING
    model = "" if choice.source.by_rounds else ", by a model"
    layouts = "" if choice.like_for_like else ", any layout"
    return f"{choice.best}{layouts}{model}"


def render_upgrades(report: StepCostReport) -> Iterator[tuple[str, ...]]:
    """Yield a row below `UPGRADES` for each backend."""
    for upgrade in report.upgrades:
        across = ", across campaigns" if upgrade.across else ""
        yield (
            upgrade.backend,
            upgrade.verdict,
            _ms(upgrade.base_us),
            _ms(upgrade.head_us),
            _ratio(upgrade.ratio) + across,
            _counts(upgrade),
        )


def _counts(upgrade: Upgrade) -> str:
    verdicts = [cell.verdict for cell in upgrade.cells]
    return ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))


def render_batches(cost: StackCost) -> Iterator[str]:
    """Yield a line for each batch, numbered as in the table of `render_loads`."""
    for number, load in enumerate(cost.loads, 1):
        size = f"{counted(load.requests, 'request')}, {load.kv_tokens:,} KV tokens"
        longest = f"the longest has {load.longest_tokens:,}"
        yield f"{number}: {load.share:.0%} of the steps: {load.load} ({size}, {longest})"


def render_loads(cost: StackCost) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return a table of milliseconds a step: a row for each backend, a column for each batch."""
    header = ("backend", *(f"batch {number}" for number in range(1, len(cost.loads) + 1)))
    rows = [
        (
            told.backend,
            *(
                _cell(part) + ("*" if load.best == told.backend else "")
                for part, load in zip(told.parts, cost.loads, strict=True)
            ),
        )
        for told in cost.backends
    ]
    return header, rows


def _cell(part: Part) -> str:
    marks = {Source.INTERPOLATED: "~", Source.MODEL: "?"}
    if part.step_us is None:
        return str(part.source)
    return f"{marks.get(part.source, '')}{_ms(part.step_us)}"


def render_lacking(cost: StackCost) -> Iterator[str]:
    """Yield a line for each reason why backends have no time of their own, and the batches.

    Each line names the backends that it is true of, and how to measure them.
    """
    lines: dict[tuple[str, str], list[str]] = {}
    for told in cost.backends:
        for part in told.parts:
            if part.source is not Source.MEASURED:
                lines.setdefault((part.load, _why(part)), []).append(told.backend)
    loads: dict[tuple[str, str], list[str]] = {}
    for (load, why), names in lines.items():
        loads.setdefault((", ".join(names), why), []).append(load)
    for (names_told, why), found in loads.items():
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield f"{found[0]}{more}, {names_told}: {why}"


def _why(part: Part) -> str:
    if part.source is Source.REFUSED:
        return f"cannot run: {part.reason}"
    if part.source is Source.INTERPOLATED:
        return f"interpolated between {' and '.join(case.workload for case in part.cases)}"
    filled = " (kernel time by a model)" if part.source is Source.MODEL else ""
    return f"not measured{filled}: {part.measure}"


def _ms(us: float | None) -> str:
    return _NOTHING if us is None else f"{us / 1000:.3f}"


def _ratio(ratio: Ratio | None) -> str:
    if ratio is None:
        return _NOTHING
    if ratio.low is None or ratio.high is None:
        return f"{ratio.estimate:.3f}x"
    return f"{ratio.estimate:.3f}x [{ratio.low:.3f}, {ratio.high:.3f}]"
