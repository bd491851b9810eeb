"""The page for those who run a release: which one to go to, and what that gains or loses."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any, Final

from regress.errors import ExitCode
from regress.model.verdict import WORST_FIRST, Verdict, exit_code_of
from regress.site.page import Page
from regress.site.pairs import Pair
from regress.site.releases import Release
from regress.site.subject import Subject
from workloads import catalog
from workloads.record import Case

__all__ = ["losing", "upgrade_data", "upgrade_pages"]

_LEGEND: Final = (
    (Verdict.REGRESSION, "slower"),
    (Verdict.IMPROVEMENT, "faster"),
    (Verdict.GONE, "lost"),
    (Verdict.BROKEN, "wrong"),
    (Verdict.UNDECIDED, "undecided"),
    (Verdict.NEW, "new"),
    (Verdict.SAME, "the same"),
)


@dataclass(frozen=True, slots=True)
class _Told:
    """One cell, with the stack that the reader runs as base."""

    case: Case
    verdict: Verdict
    across: bool
    ratio: float | None


def upgrade_pages(subject: Subject) -> Iterator[Page]:
    """Yield the page; what the reader runs, and the family, stand behind `#` in its address."""
    measured = subject.measured
    margin = subject.config.kernel_time.margin
    families = list(dict.fromkeys(subject.families[case] for case in _even_cases(subject)))
    yield Page(
        "upgrade.html",
        "upgrade.html",
        "Upgrade",
        {
            "tags": [[r.tag, r.day] for r in measured],
            "families": families,
            "margins": {"beside": margin.minimum, "across": margin.block_minimum},
            "tier": catalog.TIERS[0],
            "legend": _LEGEND,
            "rate": subject.check_rate,
            "repeats": subject.repeats,
            "settings": {
                "releases": [[r.tag, r.day] for r in measured],
                "default": (measured[-2:-1] or measured)[0].tag,
                "families": families,
                "verdicts": list(WORST_FIRST),
                "losing": list(losing(subject)),
                "margins": [margin.minimum, margin.block_minimum],
            },
        },
    )


def losing(subject: Subject) -> tuple[Verdict, ...]:
    """Return the verdicts that make a release worse: those for which `check` exits with 1."""
    fails = subject.config.spread.fails
    return tuple(
        v for v in WORST_FIRST if exit_code_of(v, variance_fails=fails) is ExitCode.REGRESSION
    )


def upgrade_data(subject: Subject) -> Iterator[tuple[str, str, object]]:
    """Yield (path, name, value) of every script that the page loads: one a release that is run.

    It holds every other release, family by family: cells by verdict, how many of them were judged
    across campaigns, the median ratio, the time saved, and (ratio, cell) of the largest loss, the
    largest gain, and the slowest that is undecided.
    """
    places = {case: place for place, case in enumerate(subject.families)}
    lose = frozenset(losing(subject))
    for ours in subject.measured:
        told = {}
        for other in subject.measured:
            found = _pair(subject, ours, other)
            if found:
                told[other.tag] = _packed(subject, found[0], found[1], places, lose)
        yield f"data/upgrades/{ours.tag}.js", f"upgrades/{ours.tag}", told


def _pair(subject: Subject, ours: Release, other: Release) -> tuple[Pair, list[_Told]] | None:
    pair = subject.pairs.get((ours.tag, other.tag))
    if pair:
        return pair, [_Told(c, o.verdict, o.across, o.ratio) for c, o in pair.cells.items()]
    pair = subject.pairs.get((other.tag, ours.tag))
    if pair:
        return pair, [*_backwards(pair)]
    return None


def _backwards(pair: Pair) -> Iterator[_Told]:
    for case, verdict in pair.back.items():
        outcome = pair.cells.get(case)
        ratio = outcome.ratio if outcome else None
        across = outcome is not None and outcome.across
        yield _Told(case, verdict, across, 1 / ratio if ratio else None)


@cache
def _smallest() -> frozenset[Case]:
    return frozenset(entry.case for entry in catalog.cases(catalog.TIERS[0]))


def _is_even(pair: Pair, case: Case) -> bool:
    """Whether every release has the cell: of the smallest tier, or nobody measured a tier."""
    return pair.tier not in catalog.TIERS or case in _smallest()


def _even_cases(subject: Subject) -> Iterator[Case]:
    told = {case for pair in subject.pairs.values() for case in pair.cells if _is_even(pair, case)}
    return (case for case in subject.families if case in told)


def _packed(
    subject: Subject,
    pair: Pair,
    cells: list[_Told],
    places: Mapping[Case, int],
    lose: frozenset[Verdict],
) -> dict[str, dict[str, Any]]:
    families: dict[str, tuple[list[_Told], list[_Told]]] = {}
    for cell in cells:
        if cell.case not in subject.families:
            continue  # Of the tier, but in nobody's rounds: no page of the site knows it.
        found = families.setdefault(subject.families[cell.case], ([], []))
        found[not _is_even(pair, cell.case)].append(cell)
    return {
        family: {**_summary(even, places), "more": _more(rest, lose)}
        for family, (even, rest) in families.items()
    }


def _summary(cells: list[_Told], places: Mapping[Case, int]) -> dict[str, Any]:
    counts = {v: n for v in WORST_FIRST if (n := sum(cell.verdict is v for cell in cells))}
    ratios = [cell.ratio for cell in cells if cell.ratio]

    def sized(verdict: Verdict) -> list[tuple[float, int]]:
        found = (cell for cell in cells if cell.verdict is verdict)
        return sorted((cell.ratio, places[cell.case]) for cell in found if cell.ratio)

    slower, faster = sized(Verdict.REGRESSION), sized(Verdict.IMPROVEMENT)
    doubts = [told for told in sized(Verdict.UNDECIDED) if told[0] > 1]
    return {
        "counts": counts,
        "across": sum(cell.across for cell in cells),
        "median": _short(median(ratios)) if ratios else None,
        "saved": _short(sum(1 - ratio for ratio, _ in faster)),
        "slow": _placed(slower[-1:]),
        "fast": _placed(faster[:1]),
        "doubt": _placed(doubts[-1:]),
    }


def _placed(found: list[tuple[float, int]]) -> list[float] | None:
    return [_short(found[0][0]), found[0][1]] if found else None


def _more(rest: list[_Told], lose: frozenset[Verdict]) -> list[int]:
    """Count what cells of a larger tier lost and gained: only some pairs have those."""
    gains = sum(cell.verdict is Verdict.IMPROVEMENT for cell in rest)
    return [sum(cell.verdict in lose for cell in rest), gains]


def _short(value: float) -> float:
    return float(f"{value:.6g}")
