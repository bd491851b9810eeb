"""The page for those who run a release: which one to go to, and what that gains or loses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from regress.errors import ExitCode
from regress.model.verdict import WORST_FIRST, Verdict, exit_code_of
from regress.site.page import Page
from regress.site.pairs import Pair
from regress.site.releases import Release
from regress.site.subject import Subject
from regress.site.twins import twins_of
from regress.site.words import kind_of_backend
from workloads import catalog
from workloads.record import Case

__all__ = ["losing", "upgrade_data", "upgrade_pages"]

_LEGEND: Final = (
    (Verdict.REGRESSION, "slower"),
    (Verdict.IMPROVEMENT, "faster"),
    (Verdict.GONE, "lost"),
    (Verdict.BROKEN, "wrong"),
    (Verdict.NO_DATA, "no data"),
    (Verdict.VARIANCE, "noisier"),
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
    """Yield the page; what the reader runs, family and backend stand behind `#` in its address."""
    measured = subject.measured
    margin = subject.config.kernel_time.margin
    even, places = list(_even_cases(subject)), _places(subject)
    families = list(dict.fromkeys(subject.families[case] for case in even))
    kinds = {case.backend: kind_of_backend(case.backend) for case in subject.families}
    backends = sorted({kinds[case.backend] for case in even})
    yield Page(
        "upgrade.html",
        "upgrade.html",
        "Upgrade",
        {
            "tags": [[r.tag, r.day] for r in measured],
            "families": families,
            "backends": backends,
            "margins": {"beside": margin.minimum, "across": margin.block_minimum},
            "tier": catalog.TIERS[0],
            "legend": _LEGEND,
            "rate": subject.check_rate,
            "repeats": subject.repeats,
            "settings": {
                "releases": [[r.tag, r.day] for r in measured],
                "default": (measured[-2:-1] or measured)[0].tag,
                "families": families,
                "backends": [slug for slug, _ in backends],
                "kinds": {name: slug for name, (slug, _) in kinds.items()},
                "cells": [places[case] for case in even],
                "twins": twins_of(subject.history),
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

    It holds every other release with the tier that was judged. Each even cell has a letter, its
    place in `WORST_FIRST` or `-` where nothing is said, whether campaigns were compared with each
    other, and the ratio. Even cells that the release was measured in and the other was not are
    named, and of the cells of a larger tier, those lost or gained.
    """
    even, places, lose = list(_even_cases(subject)), _places(subject), losing(subject)
    for ours in subject.measured:
        told = {}
        for other in subject.measured:
            found = _pair(subject, ours, other)
            if found:
                pair, cells = found
                same = [cell for cell in cells if _is_even(pair, cell.case)]
                more = [cell for cell in cells if not _is_even(pair, cell.case)]
                told[other.tag] = {
                    "tier": pair.tier,
                    **_packed(even, same),
                    "lacks": [places[case] for case in _lacking(subject, ours, same)],
                    "more": dict(_more(more, (*lose, Verdict.IMPROVEMENT), places)),
                }
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


def _places(subject: Subject) -> dict[Case, int]:
    """Return where `data/cells.js` has each case."""
    return {case: place for place, case in enumerate(subject.families)}


def _packed(even: Sequence[Case], cells: Sequence[_Told]) -> dict[str, object]:
    known = {cell.case: cell for cell in cells}
    found = [known.get(case) for case in even]
    return {
        "letters": "".join(str(WORST_FIRST.index(c.verdict)) if c else "-" for c in found),
        "across": "".join(str(int(c.across)) if c else "-" for c in found),
        "ratios": [float(f"{c.ratio:.6g}") if c and c.ratio else None for c in found],
    }


def _lacking(subject: Subject, ours: Release, cells: Sequence[_Told]) -> Iterator[Case]:
    """Yield what has no data although our side has times."""
    for cell in cells:
        if cell.verdict is Verdict.NO_DATA and subject.time_us(ours.tag, cell.case) is not None:
            yield cell.case


def _more(
    cells: Sequence[_Told], wanted: Sequence[Verdict], places: Mapping[Case, int]
) -> Iterator[tuple[Verdict, list[int]]]:
    """Name what cells of a larger tier lost and gained: only some pairs have those."""
    for verdict in wanted:
        # Of the tier, but in nobody's rounds: no page of the site knows it.
        found = [places[c.case] for c in cells if c.verdict is verdict and c.case in places]
        if found:
            yield verdict, found
