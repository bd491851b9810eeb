"""The tables of a calibration, for text and Markdown alike."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Final, NamedTuple

from regress.counted import bounded
from regress.model.calibration import Calibration, CampaignUsed, CellNoise
from regress.model.finding import Metric
from regress.model.rates import NullRate, Offsets, Power, Rate, Scenario

__all__ = ["Table", "tables_of"]

_MET: Final = {True: "met", False: "NOT MET", None: "-"}


class Table(NamedTuple):
    """A title, a header, rows of texts, and a sentence on how to read them."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str


def tables_of(told: Calibration) -> Iterator[Table]:
    """Yield all tables, the verdict on the suite itself first."""
    yield _targets(told)
    yield _campaigns(told.campaigns)
    yield _noise(told)
    yield _null(told.null)
    yield _families(told.null)
    yield from _powers(told)
    yield _offsets(told.offsets)
    yield _uniformity(told)
    yield _rules(told)


def _targets(told: Calibration) -> Table:
    rows = ((t.name, t.required, t.found, _MET[t.met]) for t in told.targets)
    header = ("target", "required", "found", "")
    return Table("targets", "What is to be reached", header, tuple(rows), "")


def _campaigns(campaigns: Sequence[CampaignUsed]) -> Table:
    rows = (
        (
            c.campaign,
            c.card,
            ", ".join(f"{n} of {tag}" for tag, n in c.rounds.items()),
            str(c.drawn_from or "-"),
            "-" if c.noise is None else f"{c.noise:.2%}",
        )
        for c in campaigns
    )
    return Table(
        "campaigns",
        "Rounds used",
        ("campaign", "card", "rounds", "drawn from", "median noise"),
        tuple(rows),
        "All rounds of whole tiers tell noise; gates are drawn from those of the byte-identical "
        "stacks, in campaigns that have enough of them.",
    )


def _noise(told: Calibration) -> Table:
    rows = [
        _noise_row(name, cells)
        for name, cells in (
            *((group, [c for c in _simulated(told) if c.group == group]) for group in _of(told)),
            *(
                (family, [c for c in _simulated(told) if c.family == family])
                for family in dict.fromkeys(c.family for c in _simulated(told))
            ),
        )
    ]
    return Table(
        "noise",
        "Noise between processes, and what it lets see",
        ("cells", "number", "sd", "upper bound", "floor", "worst floor", "found 80%", "found 95%"),
        tuple(rows),
        "Medians over cells. Found: the slow-down of a single cell that 80 % and 95 % of the "
        "simulated gates call REGRESSION.",
    )


def _simulated(told: Calibration) -> list[CellNoise]:
    return [c for c in told.cells if c.detectable_80 is not None]


def _of(told: Calibration) -> list[str]:
    return [str(group) for group in dict.fromkeys(c.group for c in _simulated(told))]


def _noise_row(name: str, cells: Sequence[CellNoise]) -> tuple[str, ...]:
    figures = [c.noise[Metric.KERNEL_TIME] for c in cells]
    return (
        name,
        str(len(cells)),
        f"{median(f.sd for f in figures):.2%}",
        f"{median(f.upper for f in figures):.2%}",
        f"{median(c.floor for c in cells):.1%}",
        f"{max(c.floor for c in cells):.1%}",
        _median(c.detectable_80 for c in cells),
        _median(c.detectable_95 for c in cells),
    )


def _median(values: Iterable[float | None]) -> str:
    known = [v for v in values if v is not None]
    return f"{median(known):.2%}" if known else "-"


def _null(null: Sequence[NullRate]) -> Table:
    rows = (
        (
            n.draws,
            n.campaign or "all",
            str(n.gates),
            *(_bounded(r) for r in (n.regression, n.variance, n.improvement, n.undecided)),
            f"{n.suspects.share:.0%}",
            f"{n.mean_rounds:.1f}",
            f"{n.mean_seconds:.0f} s ({n.worst_seconds:.0f} s)",
        )
        for n in null
    )
    return Table(
        "null",
        "Gates in which nothing changed",
        (
            "draws",
            "campaign",
            "gates",
            "any REGRESSION",
            "any VARIANCE",
            "any IMPROVEMENT",
            "any UNDECIDED not small",
            "confirming",
            "rounds screened",
            "GPU time (95 %)",
        ),
        tuple(rows),
        "In brackets the 95 % upper bound. pooled: both sides from the rounds of both "
        "byte-identical stacks; held out: the same, with floors from the other campaigns alone; "
        "across: base from one of the stacks and head from the other.",
    )


def _families(null: Sequence[NullRate]) -> Table:
    rates = [n for n in null if not n.campaign]
    names = dict.fromkeys(name for n in rates for name in n.families)
    return Table(
        "null-family",
        "Gates in which nothing changed, with a REGRESSION or VARIANCE in a family",
        ("family", *(n.draws for n in rates)),
        tuple((name, *(_bounded(n.families[name]) for n in rates)) for name in names),
        "In brackets the 95 % upper bound.",
    )


def _bounded(rate: Rate) -> str:
    return f"{rate.hits} ({bounded(rate.high)})"


def _powers(told: Calibration) -> Iterator[Table]:
    titles = {
        Scenario.ALONE: ("power", "Power: one cell is slower"),
        Scenario.FAMILY: ("power-family", "Power: all cells of a family are slower"),
        Scenario.ALL: ("power-all", "Power: every cell is slower"),
    }
    for scenario, (name, title) in titles.items():
        found = [p for p in told.power if p.scenario is scenario]
        yield _power(name, title, found, "Share of planted slow-downs that end as REGRESSION.")
    yield _power(
        "power-hidden",
        "Power: some passes are slower",
        told.hidden,
        "Share that ends as VARIANCE or REGRESSION, when the passes of one cell are slow now and "
        "then.",
    )


def _power(name: str, title: str, found: Sequence[Power], note: str) -> Table:
    planted = tuple(dict.fromkeys(p.planted for p in found))
    share = {(p.group, p.planted): p.found.share for p in found}
    rows = tuple(
        (group, *(f"{share[group, change]:.1%}" for change in planted))
        for group in dict.fromkeys(p.group for p in found)
    )
    return Table(name, title, ("cells", *planted), rows, note)


def _offsets(offsets: Sequence[Offsets]) -> Table:
    rows = (
        (
            o.campaign or "all",
            f"{o.rounds[0]} and {o.rounds[1]}",
            str(o.cells),
            f"{o.median_offset:.2%}",
            f"{o.median_reach:.2%}",
            str(o.beyond_margin),
            str(o.shown_beyond),
            str(o.shown),
            f"{o.worst_offset:+.2%} [{_end(o.worst_low)}, {_end(o.worst_high)}] {o.worst}",
        )
        for o in offsets
    )
    return Table(
        "offsets",
        "Offset between byte-identical stacks",
        (
            "campaign",
            "rounds",
            "cells",
            "median",
            "sampling",
            "beyond margin",
            "shown beyond",
            "shown",
            "worst",
        ),
        tuple(rows),
        "Sampling: half the 90 % interval, median over cells. Shown: the interval leaves out "
        "zero, as 10 % of intervals do by chance.",
    )


def _end(value: float | None) -> str:
    return "?" if value is None else f"{value:+.2%}"


def _uniformity(told: Calibration) -> Table:
    rows = (
        (
            u.campaign or "all",
            str(u.p_values),
            f"{u.distance:.3f}",
            f"{u.p_value:.3f}",
            f"{u.below_5:.1%}",
            f"{u.below_1:.1%}",
        )
        for u in told.uniformity
    )
    return Table(
        "uniformity",
        "p-values where nothing changed",
        ("campaign", "p-values", "distance from uniform", "its p", "up to 0.05", "up to 0.01"),
        tuple(rows),
        "Its p compares with the same rounds under shuffled labels, whole rounds at a time.",
    )


def _rules(told: Calibration) -> Table:
    planted = tuple(dict.fromkeys(name for r in told.rules for name in r.power))
    rows = (
        (
            r.rule,
            r.rounds,
            f"{r.cells.share:.2%}",
            f"{r.gates.share:.1%}",
            *(f"{r.power[change].share:.1%}" for change in planted),
        )
        for r in told.rules
    )
    return Table(
        "rules",
        "Other rules on the same rounds",
        ("rule", "rounds a side", "false alarms a cell", "a gate", *planted),
        tuple(rows),
        "Called slower; all cells are slower at once. Samples are pass medians.",
    )
