"""The overview: each release against the one before and against the best so far."""

from collections.abc import Iterator
from dataclasses import dataclass

from regress.pipeline.year import recorded_year
from regress.site.page import Page
from regress.site.releases import Release
from regress.site.steps import Step
from regress.site.subject import Subject
from regress.site.words import path_of_cell
from workloads import catalog

__all__ = ["overview_pages"]


@dataclass(frozen=True, slots=True)
class _Row:
    release: Release
    changed: tuple[tuple[str, str, str], ...]
    step: Step | None


def overview_pages(subject: Subject) -> Iterator[Page]:
    """Yield the front page."""
    rows = [_row(subject, release) for release in reversed(subject.releases)]
    year = recorded_year({release.tag: release.rounds for release in subject.measured})
    yield Page(
        "index.html",
        "overview.html",
        "Overview",
        {
            "rows": rows,
            "newest": next((row for row in rows if row.step), None),
            "history": subject.history,
            "rate": subject.check_rate,
            "calibration": subject.calibration,
            "cells": len(subject.families),
            "measured": subject.measured,
            "listed": sum(release.published for release in subject.releases),
            "rounds": sum(len(release.rounds) for release in subject.measured),
            "picked": sum(
                r.tier not in catalog.TIERS for release in subject.measured for r in release.rounds
            ),
            "setup": subject.setup,
            "cards": [m.gpu_uuid[-6:] for m in subject.machines],
            "warnings": (*subject.warnings, *(subject.history.warnings if subject.history else ())),
            "year": {
                "releases": [[p.tag, p.day] for p in year.releases],
                "lines": [
                    {
                        "label": line.label,
                        "href": path_of_cell(line.case),
                        "like": line.like_for_like,
                        "points": [[p.tag, p.median_us, p.low_us, p.high_us] for p in line.points],
                    }
                    for line in year.lines
                ],
            },
            "heat": _heat(subject),
            "least": subject.config.kernel_time.min_rounds,
        },
    )


def _row(subject: Subject, release: Release) -> _Row:
    before = subject.release(release.previous) if release.previous else None
    changed = release.changed(before) if before else ()
    return _Row(release, changed, subject.steps.get(release.tag))


def _heat(subject: Subject) -> dict[str, object]:
    """Return time over the fastest release, of every measured cell of the smallest tier."""
    tags = [release.tag for release in subject.measured]
    gate = {entry.case for entry in catalog.cases(catalog.TIERS[0])}
    rows = []
    for case, family in subject.families.items():
        found = [subject.time_us(tag, case) for tag in tags]
        best = min((time for time in found if time is not None), default=None)
        if case in gate and best is not None:
            over = [None if time is None else round(time / best, 4) for time in found]
            row = {"workload": case.workload, "backend": case.backend, "href": path_of_cell(case)}
            rows.append({**row, "family": family, "ratios": over})
    return {"tags": tags, "rows": rows}
