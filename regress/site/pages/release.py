"""A page for each measured stack: what changed, what is behind, what could not be measured."""

from collections import Counter
from collections.abc import Iterator, Mapping

from regress.model.finding import Finding
from regress.model.verdict import WORST_FIRST, Verdict
from regress.pipeline.ab.runs import is_whole
from regress.site.page import Page
from regress.site.pairs import CellOutcome
from regress.site.releases import Release
from regress.site.subject import Subject
from regress.site.summary import AgainstBest, against_best, summary
from regress.site.words import path_of_cell, path_of_release
from workloads.record import Case

__all__ = ["release_pages"]


def release_pages(subject: Subject) -> Iterator[Page]:
    """Yield the page of every measured stack."""
    measured = subject.measured
    for place, release in enumerate(measured):
        older = measured[place - 1] if place else None
        newer = measured[place + 1] if place + 1 < len(measured) else None
        yield _page(subject, release, (older, newer))


def _page(
    subject: Subject, release: Release, beside: tuple[Release | None, Release | None]
) -> Page:
    step = subject.step(release.tag)
    best = against_best(subject, release.tag)
    previous = subject.release(release.previous) if release.previous else None
    judge = f"python -m regress check {release.previous} {release.tag} {subject.source}"
    return Page(
        path_of_release(release.tag),
        "release.html",
        release.tag,
        {
            "release": release,
            "beside": beside,
            "pins_changed": release.changed(previous) if previous else (),
            "step": step,
            "told": summary(step.cells) if step else None,
            "told_best": summary(best.cells),
            "changed": [*_changed(step.cells)] if step else [],
            "behind": [*_behind(best)],
            "lost": [*_lost(subject, release.tag)],
            "rounds": subject.rounds[release.tag],
            "is_whole": is_whole,
            "judge": judge.strip(),
            "ratios": [*_ratios(subject, step.cells)] if step else [],
        },
    )


def _changed(
    cells: Mapping[Case, CellOutcome],
) -> Iterator[tuple[Case, CellOutcome, Finding | None]]:
    """Yield what is not SAME, worst first, with the finding that says so."""
    for case, cell in sorted(cells.items(), key=lambda item: _rank(item[1])):
        if cell.verdict is not Verdict.SAME:
            telling = (f for f in cell.findings if f.verdict is cell.verdict)
            yield case, cell, next(telling, None)


def _rank(cell: CellOutcome) -> tuple[int, float]:
    return WORST_FIRST.index(cell.verdict), -(cell.ratio or 0)


def _behind(best: AgainstBest) -> Iterator[tuple[Case, CellOutcome, str]]:
    """Yield the cells that are shown slower than under their fastest earlier stack."""
    slower = [(c, cell) for c, cell in best.cells.items() if cell.verdict is Verdict.REGRESSION]
    for case, cell in sorted(slower, key=lambda item: _rank(item[1])):
        yield case, cell, best.best[case]


def _lost(subject: Subject, tag: str) -> Iterator[tuple[str, list[Case]]]:
    """Yield why cases have no time in any round, with those cases."""
    why: dict[str, list[Case]] = {}
    for case, seen in subject.whole[tag].items():
        if subject.time_us(tag, case) is None:
            told = Counter(
                f"{o.record.status}: {o.record.reason or 'no reason given'}" for o in seen
            )
            why.setdefault(told.most_common(1)[0][0], []).append(case)
    yield from sorted(why.items(), key=lambda item: -len(item[1]))


def _ratios(subject: Subject, cells: Mapping[Case, CellOutcome]) -> Iterator[list[object]]:
    """Yield what the picture of a comparison shows of each cell that has a ratio."""
    for case, cell in cells.items():
        if cell.ratio is not None:
            yield [
                subject.families[case],
                case.workload,
                case.backend,
                cell.verdict,
                round(cell.ratio, 4),
                path_of_cell(case),
            ]
