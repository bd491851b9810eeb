"""`backends` as text: which choices are wrong, what to do, then where backends swap rank."""

from collections import Counter
from itertools import groupby
from typing import Final

from rich.console import Console

from regress.counted import counted
from regress.model.backends import (
    AdviceCost,
    BackendsReport,
    BackendTime,
    Choice,
    FamilyRegret,
    RankSwap,
)
from regress.report.printable import printable
from regress.report.view import View, render_ratio, render_table
from workloads.backend import Layout

__all__ = ["render_backends_text"]

_STYLES: Final = {
    Choice.INVERTED: "bold red",
    Choice.NOT_INVERTED: "green",
    Choice.UNDECIDED: "yellow",
}
_NOT_LIKE: Final = "not like for like"


def render_backends_text(report: BackendsReport, view: View) -> str:
    """Return the report for a person who must choose a backend."""
    report = printable(report)

    def write(console: Console) -> None:
        where = f"on {report.machine} ({report.setup['gpu']}), tier {report.tier}"
        console.print(f"Backends of {report.stack} {where}", style="bold")
        own = [family for family in report.families if not family.policy]
        for family in own:
            _auto(console, family)
        if not own:
            console.print(
                "\nNothing is said of the library's own choice: no `auto` was measured here"
            )
        _policies(console, report)
        _swaps(console, report)
        _absent(console, report)
        if view.everything:
            _times(console, report)
        _footer(console, report)

    return view.draw(write)


def _auto(console: Console, family: FamilyRegret) -> None:
    title = f"\n{family.choice}  {family.family} ({family.mode}), {family.chooser}"
    console.print(title, style=_STYLES[family.choice])
    console.print(
        f"  {family.median:.2f}x the best paged backend's time (median), "
        f"{family.worst:.2f}x at worst ({family.worst_workload})"
    )
    told = f"{family.inverted} of {counted(family.decided, 'decided workload')} inverted"
    undecided = family.workloads - family.decided
    told += f", {undecided} with too few rounds" if undecided else ""
    console.print(f"  {told}; {_most_often_best(family)}")
    if family.advice:
        console.print(f"  what to do: {family.advice}", style="bold")
        console.print(f"  what that costs: {_cost(family.cost)}")


def _most_often_best(family: FamilyRegret) -> str:
    if family.tied:
        names = " and ".join((family.best, *family.tied))
        return f"best equally often: {names} ({family.best_in} each)"
    return f"most often best: {family.best} ({family.best_in})"


def _cost(cost: AdviceCost) -> str:
    every = counted(cost.workloads, "workload")
    if not cost.behind:
        return f"at most {cost.worst:.2f}x the best's time on each of {every}"
    return (
        f"up to {cost.worst:.2f}x the best's time on {cost.behind} of {every}, "
        f"e.g. {cost.worst_workload}"
    )


def _policies(console: Console, report: BackendsReport) -> None:
    rows = [
        [
            family.chooser,
            family.family,
            family.mode,
            f"{family.median:.2f}x",
            f"{family.worst:.2f}x",
            f"{family.inverted}/{family.decided}",
            family.best,
            "" if family.like_for_like else _NOT_LIKE,
        ]
        for family in report.families
        if family.policy
    ]
    if rows:
        header = ["policy", "family", "mode", "median", "worst", "inverted", "best", "layouts"]
        console.print("\nRegret of the engines' policies", style="bold")
        console.print(render_table(header, rows))


def _swaps(console: Console, report: BackendsReport) -> None:
    console.print("\nWhere backends swap rank", style="bold")
    if not report.swaps:
        console.print("  nowhere that these rounds show")
    for (axis, mode, layout), swaps in groupby(
        report.swaps, key=lambda s: (s.axis, s.mode, s.layout)
    ):
        console.print(f"  along {axis} ({mode}, {layout} KV)")
        for swap in swaps:
            _swap(console, swap)


def _swap(console: Console, swap: RankSwap) -> None:
    for value, best, ratio, slug in (
        (swap.first_value, swap.first_best, swap.first_ratio, swap.first_workload),
        (swap.second_value, swap.second_best, swap.second_ratio, swap.second_workload),
    ):
        console.print(f"    at {value:>5} {best} leads by {render_ratio(ratio)}  {slug}")
    console.print()


def _absent(console: Console, report: BackendsReport) -> None:
    lost = [t for t in report.times if t.time_us is None]
    if lost:
        console.print("Without a time", style="bold")
    for (name, status, reason), n in Counter((t.backend, t.status, t.reason) for t in lost).items():
        console.print(
            f"  {name}: {status} on {counted(n, 'workload')}: {reason or 'no reason given'}"
        )
    if report.aliases:
        console.print(f"{counted(len(report.aliases), 'setting')} not measured: aliases of others")


def _times(console: Console, report: BackendsReport) -> None:
    for workload, group in groupby(report.times, key=lambda t: t.workload):
        timed = sorted((t for t in group if t.time_us is not None), key=_speed)
        console.print(f"\n{workload}", style="bold")
        for t in timed:
            label = "" if t.layout is Layout.PAGED else f"  {_NOT_LIKE}: {t.layout} KV"
            console.print(
                f"  {_speed(t):>10.1f} us  {t.backend} ({counted(t.rounds, 'round')}){label}"
            )


def _speed(timed: BackendTime) -> float:
    return timed.time_us or 0.0


def _footer(console: Console, report: BackendsReport) -> None:
    console.print(
        f"\nContiguous-KV backends (FA3, SDPA) are {_NOT_LIKE} with paged ones and never count "
        "as the best for a paged choice."
    )
    for line in report.warnings:
        console.print(f"Warning: {line}")
    console.print(f"Reproduce: {report.command}")
