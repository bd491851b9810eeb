"""The tables of the README, made from recorded rounds and the reports about them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Final

from regress.counted import bounded, counted
from regress.model.backends import AdviceCost, BackendsReport
from regress.model.calibration import Calibration
from regress.model.finding import Metric
from regress.model.rates import Group, Scenario
from regress.model.report import CheckReport
from regress.model.run import RunTold
from regress.model.sweep import Sweep
from regress.model.verdict import WORST_FIRST
from workloads.catalog import TIERS, cases
from workloads.record import Round, Status
from workloads.workload import parse

__all__ = [
    "render_checks",
    "render_choices",
    "render_cliffs",
    "render_rate",
    "render_recorded",
    "render_runs",
    "render_seconds",
    "render_totals",
]

_AUTO: Final = "flashinfer-decode-tc-auto"
_SHOWN: Final = ("+1%", "+2%")


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = (header, ["---"] * len(header), *rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def render_checks(reports: Iterable[CheckReport]) -> str:
    """Return one row a pair of stacks: verdict, exit code, counts, ratios of decode on `auto`."""
    header = ("stacks", "verdict", "exit", "cases", "`auto` decode, uniform", "skewed")
    return _table(header, map(_check_row, reports))


def render_runs(reports: Iterable[CheckReport]) -> str:
    """Return one row a run of `ab`: verdict, exit code, counts, and what it cost."""
    header = ("stacks", "tier", "verdict", "exit", "cases", "rounds a side", "GPU time", "in all")
    return _table(header, (_run_row(r, r.run) for r in reports if r.run))


def _run_row(report: CheckReport, run: RunTold) -> tuple[str, ...]:
    stacks, verdict, exit_code, counts, *_ = _check_row(report)
    rounds = " + ".join(str(stage.rounds) for stage in run.stages)
    seconds = f"{run.seconds:.0f} s", f"{run.elapsed_s:.0f} s"
    return (stacks, report.tier, verdict, exit_code, counts, rounds, *seconds)


def render_rate(told: Calibration) -> str:
    """Return what the calibration found of false alarms and power, as a sentence."""
    drawn = [c.drawn_from for c in told.campaigns if c.drawn_from]
    (null,) = (n for n in told.null if n.draws == "pooled" and not n.campaign)
    power = ", ".join(
        f"{p.planted} in {p.found.share:.0%}"
        for p in told.power
        if (p.scenario, p.group) == (Scenario.ALONE, Group.QUIET) and p.planted in _SHOWN
    )
    return (
        f"{null.alarm.hits} of {null.alarm.of} simulated gates in which nothing changed raised a "
        f"false alarm (at most {bounded(null.alarm.high)}); a slow-down of one quiet cell is "
        f"found: {power}. Drawn from {sum(drawn)} rounds of {len(drawn)} campaigns, "
        f"tier {told.tier}.\n"
    )


def _check_row(report: CheckReport) -> tuple[str, ...]:
    counts = Counter(cell.verdict for cell in report.cells)
    return (
        f"{report.base} → {report.head}",
        report.verdict,
        str(report.exit_code.value),
        ", ".join(f"{counts[v]} {v}" for v in WORST_FIRST if counts[v]),
        _ratios(report, "uniform"),
        _ratios(report, "skew"),
    )


def _ratios(report: CheckReport, distribution: str) -> str:
    """Return the smallest and the largest ratio of tensor-core decode on `auto`."""
    ratios = [
        f.measured.ratio.estimate
        for f in report.findings
        if f.measured
        and (f.series.metric, f.series.case.backend) == (Metric.KERNEL_TIME, _AUTO)
        and parse(f.series.case.workload).kv.distribution.startswith(distribution)
    ]
    return f"{min(ratios):.2f}x to {max(ratios):.2f}x" if ratios else "none"


def render_choices(report: BackendsReport) -> str:
    """Return one row a family: what the library's own choice costs over the best backend."""
    header = (
        *(f"{report.stack}, family (mode)", "`auto` is", "median", "worst"),
        *("most often best", "always taking that one, where `auto` ran"),
    )
    return _table(
        header,
        (
            (
                f"{f.family} ({f.mode})",
                f"{f.choice}: {f.inverted} of {counted(f.decided, 'workload')}",
                f"{f.median:.2f}x",
                f"{f.worst:.2f}x",
                " and ".join(f"`{name}`" for name in (f.best, *f.tied))
                + (" tie" if f.tied else ""),
                _cost(f.cost),
            )
            for f in report.families
            if not f.policy
        ),
    )


def _cost(cost: AdviceCost) -> str:
    if not cost.behind:
        return f"at most {cost.worst:.2f}x the best"
    return f"up to {cost.worst:.2f}x the best on {cost.behind} of {cost.workloads}"


def render_cliffs(sweep: Sweep) -> str:
    """Return one row a backend: where it stops splitting the long request, and what that costs."""
    rows = []
    for curve in sweep.curves:
        if curve.cliff:
            before, after = curve.cliff
            told = (f"{p.penalty:.1f}x" for p in (curve.points[0], before, after))
            rows.append((f"`{curve.backend}`", f"{after.batch} requests", *told))
    first = sweep.curves[0].points[0].batch
    header = ("backend", "no split from", f"skewed over uniform at {first}", "one request below")
    return _table((*header, "at the cliff"), rows)


def render_recorded(rounds: Mapping[str, Sequence[Round]]) -> str:
    """Return one row a stack: rounds by tier, campaigns and cards; and the set-up below."""
    tiers = [t for t in TIERS if any(r.tier == t for found in rounds.values() for r in found)]
    rows = [
        (
            tag,
            *(str(sum(r.tier == tier for r in found)) for tier in tiers),
            str(len({r.campaign for r in found})),
            str(len({r.machine.gpu_uuid for r in found})),
        )
        for tag, found in rounds.items()
    ]
    table = _table(("stack", *(f"{t} rounds" for t in tiers), "campaigns", "cards"), rows)
    return f"{table}\nSet-up: {_setups(rounds)}.\n"


def render_totals(rounds: Mapping[str, Sequence[Round]]) -> str:
    """Return how much is recorded, and with what, as two sentences."""
    every = [r for found in rounds.values() for r in found]
    tiers = [(sum(r.tier == tier for r in every), tier) for tier in TIERS]
    of = ", ".join(f"{number} {tier}" for number, tier in tiers if number)
    rest = sum(r.tier not in TIERS for r in every)
    more = f", and {rest} of a few cells that were looked at again" if rest else ""
    return (
        f"Recorded: {counted(sum(number for number, _ in tiers), 'round')} ({of}) of "
        f"{counted(len(rounds), 'stack')} on "
        f"{counted(len({r.machine.gpu_uuid for r in every}), 'card')}{more}. "
        f"Set-up: {_setups(rounds)}.\n"
    )


def _setups(rounds: Mapping[str, Sequence[Round]]) -> str:
    machines = (r.machine for found in rounds.values() for r in found)
    told = {
        f"{m.gpu}, driver {m.driver}, CUDA {m.cuda}, nvcc {m.nvcc}, torch {m.torch}"
        for m in machines
    }
    return "; ".join(sorted(told))


def render_seconds(rounds: Mapping[str, Sequence[Round]]) -> str:
    """Return one row a tier: cases, and where the time of a recorded round went."""
    every = [r for found in rounds.values() for r in found]
    rows = [_seconds_row(tier, [r for r in every if r.tier == tier]) for tier in TIERS]
    header = ("tier", "cases", "rounds", "a whole round", "import and build", "measuring")
    return _table((*header, "of it inside kernels"), rows)


def _seconds_row(tier: str, rounds: Sequence[Round]) -> tuple[str, ...]:
    size = str(len(cases(tier)))
    if not rounds:
        return (tier, size, "none recorded", "", "", "", "")
    total, measure = ([r.seconds[name] for r in rounds] for name in ("total", "measure"))
    ready = [r.seconds["import"] + r.seconds["build"] for r in rounds]
    share = median(r.seconds["kernels"] / r.seconds["measure"] for r in rounds)
    measured = sorted({sum(c.status is Status.MEASURED for c in r.cases) for r in rounds})
    return (
        tier,
        f"{size} ({measured[0]} to {measured[-1]} measured)",
        str(len(rounds)),
        f"{median(total):.0f} s (most {max(total):.0f} s)",
        f"{median(ready):.0f} s (most {max(ready):.0f} s)",
        f"{median(measure):.0f} s",
        f"{share:.0%}",
    )
