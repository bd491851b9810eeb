"""A page for each case: its history with every round drawn, and what the rounds hold."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

import msgspec

from regress.model.cell import Observation
from regress.model.verdict import Verdict
from regress.site.page import Page
from regress.site.releases import Release
from regress.site.steps import CellStep
from regress.site.subject import Subject
from regress.site.words import layout_of, path_of_cell, workload_words
from workloads.backend import Layout
from workloads.record import Case, CaseRecord

__all__ = ["cell_pages"]

_QUIET: Final = frozenset({Verdict.SAME, Verdict.UNDECIDED})


@dataclass(frozen=True, slots=True)
class _Row:
    """One stack.

    Attributes
    ----------
    times_us
        Of its whole rounds.
    lost
        Why rounds have no time, with how many.
    outcome
        Against the stack before.
    """

    release: Release
    times_us: tuple[float, ...]
    median_us: float | None
    sm_mhz: float | None
    plan_us: float | None
    lost: tuple[tuple[str, int], ...]
    outcome: CellStep | None


@dataclass(frozen=True, slots=True)
class _Decided:
    """What a library decided under one stack or several in a row.

    Attributes
    ----------
    first, last
        Tags of the stacks.
    changed
        Names of the facts that differ from before.
    """

    first: str
    last: str
    facts: dict[str, str]
    changed: frozenset[str]


def cell_pages(subject: Subject) -> Iterator[Page]:
    """Yield the page of every case, and the list of them."""
    for case in subject.families:
        yield _page(subject, case)
    yield Page("cells.html", "cells.html", "Cells", {"rows": [*_listed(subject)]})


def _page(subject: Subject, case: Case) -> Page:
    planned = [r for r in subject.measured if case in subject.seen.get(r.tag, ())]
    rows = [*_rows(subject, case, planned)]
    decided = [*_decided(subject, case)]
    pattern = f"^{case}$".replace(".", r"\.")
    pair = _pair(subject)
    judge = f"python -m regress check {pair} --cells '{pattern}' {subject.source}"
    return Page(
        path_of_cell(case),
        "cell.html",
        f"{case.backend} on {case.workload}",
        {
            "case": case,
            "family": subject.families[case],
            "rows": rows,
            "unplanned": [r.tag for r in subject.measured if r not in planned],
            "decided": decided,
            "facts": [*dict.fromkeys(name for found in decided for name in found.facts)],
            "siblings": _siblings(subject, case),
            "contiguous": layout_of(case.backend) is Layout.CONTIGUOUS,
            "measure": f"python -m benchmarks run {pair} --cells '{pattern}' --rounds 6",
            "judge": judge.strip(),
            "history": _history(subject, case, rows),
        },
    )


def _pair(subject: Subject) -> str:
    newest = subject.measured[-1]
    return f"{newest.previous} {newest.tag}" if newest.previous else newest.tag


def _rows(subject: Subject, case: Case, releases: Iterable[Release]) -> Iterator[_Row]:
    for release in releases:
        seen = subject.observations(release.tag, case)
        step = subject.steps.get(release.tag)
        clocks = [mhz for o in seen for mhz in o.record.sm_mhz]
        plans = [o.record.plan_time_us for o in seen if o.record.plan_time_us is not None]
        yield _Row(
            release=release,
            times_us=tuple(o.record.time_us for o in seen if o.record.time_us is not None),
            median_us=subject.time_us(release.tag, case),
            sm_mhz=median(clocks) if clocks else None,
            plan_us=median(plans) if plans else None,
            lost=_lost(seen),
            outcome=step.cells.get(case) if step else None,
        )


def _lost(seen: Sequence[Observation]) -> tuple[tuple[str, int], ...]:
    records = (o.record for o in seen if not o.measured)
    return tuple(Counter(f"{r.status}: {r.reason}" for r in records).most_common())


def _decided(subject: Subject, case: Case) -> Iterator[_Decided]:
    """Yield facts in order of the stacks, those of equal ones in a row together."""
    last: _Decided | None = None
    for release in subject.measured:
        facts = _facts([o.record for o in subject.observations(release.tag, case)])
        if not facts:
            continue
        if last and last.facts == facts:
            last = replace(last, last=release.tag)
            continue
        if last:
            yield last
        before = last.facts if last else facts
        differing = {n for n in {*facts, *before} if facts.get(n) != before.get(n)}
        last = _Decided(release.tag, release.tag, facts, frozenset(differing))
    if last:
        yield last


def _facts(records: Sequence[CaseRecord]) -> dict[str, str]:
    """Return facts and kernels as most rounds tell them; what no round tells is left out."""
    told: dict[str, Counter[str]] = {}
    for record in records:
        facts = msgspec.structs.asdict(record.facts) if record.facts else {}
        if record.kernels:
            facts["kernels"] = " → ".join(map(str, record.kernels))
        for name, value in facts.items():
            if value is not None:
                told.setdefault(name, Counter())[str(value)] += 1
    return {name: counts.most_common(1)[0][0] for name, counts in told.items()}


def _history(subject: Subject, case: Case, rows: Sequence[_Row]) -> dict[str, object]:
    """Return what the picture and the table of rounds show, exactly as the files have it.

    A round is (its number in `rounds.js`, microseconds, MHz, notes).
    """
    numbers = subject.numbers
    return {
        "tags": [row.release.tag for row in rows],
        "medians": [row.median_us for row in rows],
        "verdicts": [row.outcome.verdict if row.outcome else None for row in rows],
        "rounds": [
            [
                numbers[o.round_id],
                o.record.time_us,
                median(o.record.sm_mhz) if o.record.sm_mhz else None,
                _notes(o.record),
            ]
            for release in subject.measured
            for o in subject.seen[release.tag].get(case, ())
        ],
    }


def _notes(record: CaseRecord) -> str:
    why = (f"{record.status}: {record.reason}",) if record.reason else ()
    return "; ".join((*why, *record.warnings))


def _siblings(subject: Subject, case: Case) -> list[tuple[Case, float | None, bool]]:
    """Return the workload's other backends under the newest stack that has this one."""
    ours = layout_of(case.backend)
    tags = [r.tag for r in subject.measured if subject.time_us(r.tag, case) is not None]
    tag = tags[-1] if tags else subject.measured[-1].tag
    return [
        (other, subject.time_us(tag, other), layout_of(other.backend) is ours)
        for other in subject.families
        if other.workload == case.workload
    ]


def _listed(subject: Subject) -> Iterator[dict[str, object]]:
    steps = [subject.steps[r.tag] for r in subject.measured if r.tag in subject.steps]
    for case, family in subject.families.items():
        known = [r.tag for r in subject.measured if subject.time_us(r.tag, case) is not None]
        outcomes = [step.cells[case] for step in steps if case in step.cells]
        yield {
            "case": case,
            "family": family,
            "words": workload_words(case.workload),
            "releases": len(known),
            "newest": known[-1] if known else None,
            "time_us": subject.time_us(known[-1], case) if known else None,
            "verdict": outcomes[-1].verdict if outcomes else None,
            "changes": sum(o.verdict not in _QUIET for o in outcomes),
        }
