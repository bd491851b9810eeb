"""The page that compares any two stacks, and the data that it loads."""

from collections.abc import Iterator, Mapping

from regress.model.verdict import WORST_FIRST
from regress.site.page import Page
from regress.site.pairs import Pair
from regress.site.subject import Subject
from regress.site.words import layout_of, path_of_cell
from workloads.backend import Layout

__all__ = ["compare_data", "compare_pages"]


def compare_pages(subject: Subject) -> Iterator[Page]:
    """Yield the page; which pair it shows stands behind `#` in its address."""
    newest = subject.measured[-1]
    default = [newest.previous or newest.tag, newest.tag]
    yield Page(
        "compare.html",
        "compare.html",
        "Compare",
        {
            "tags": [[r.tag, r.day] for r in subject.measured],
            "settings": {
                "tags": [r.tag for r in subject.measured],
                "default": default,
                "verdicts": list(WORST_FIRST),
                "source": subject.source,
            },
        },
    )


def compare_data(subject: Subject) -> Iterator[tuple[str, str, object]]:
    """Yield (path, name, value) of every script that the page loads.

    A pair holds a letter for each cell, its place in `WORST_FIRST` or `-` where nothing is said,
    and ratios with their intervals in the same order.
    """
    cases = list(subject.families)
    listed = [
        [
            subject.families[case],
            case.workload,
            case.backend,
            path_of_cell(case),
            layout_of(case.backend) is Layout.CONTIGUOUS,
        ]
        for case in cases
    ]
    yield "data/cells.js", "cells", listed
    times = {r.tag: [subject.time_us(r.tag, c) for c in cases] for r in subject.measured}
    yield "data/times.js", "times", times
    for release in subject.measured:
        heads = {head: pair for (base, head), pair in subject.pairs.items() if base == release.tag}
        told = {head: _packed(subject, pair) for head, pair in heads.items()}
        yield f"data/pairs/{release.tag}.js", f"pairs/{release.tag}", told


def _packed(subject: Subject, pair: Pair) -> Mapping[str, object]:
    letters, ratios = [], []
    for case in subject.families:
        cell = pair.cells.get(case)
        letters.append(str(WORST_FIRST.index(cell.verdict)) if cell else "-")
        if cell and cell.timed and cell.timed.measured:
            ratio = cell.timed.measured.ratio
            ratios.append([_short(ratio.estimate), _short(ratio.low), _short(ratio.high)])
    timed = [bool(c and c.timed) for c in map(pair.cells.get, subject.families)]
    return {
        "tier": pair.tier,
        "verdict": pair.verdict,
        "letters": "".join(letters),
        "timed": "".join(map(str, map(int, timed))),
        "ratios": ratios,
    }


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
