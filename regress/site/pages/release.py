"""A page for each measured stack: what changed, what is behind, what could not be measured."""

from collections import Counter
from collections.abc import Iterator

from regress.model.verdict import WORST_FIRST, Verdict
from regress.pipeline.ab.runs import is_whole
from regress.report.history_moves import rows_of_moves
from regress.site.page import Page
from regress.site.releases import Release
from regress.site.steps import CellStep, Step
from regress.site.subject import Subject
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
    step = subject.steps.get(release.tag)
    previous = subject.release(step.base) if step else None
    moves = subject.history.threshold_moves if subject.history else ()
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
            "history": subject.history,
            "moved": [*rows_of_moves(m for m in moves if m.after == release.tag)],
            "changed": [*_unlike(step, undecided=False)] if step else [],
            "undecided": [*_unlike(step, undecided=True)] if step else [],
            "behind": [*_behind(subject, release.tag, step)] if step else [],
            "time_us": subject.time_us,
            "lost": [*_lost(subject, release.tag)],
            "rounds": subject.rounds[release.tag],
            "is_whole": is_whole,
            "judge": judge.strip(),
            "ratios": [*_ratios(subject, step)] if step else [],
        },
    )


def _unlike(step: Step, *, undecided: bool) -> Iterator[tuple[Case, CellStep]]:
    """Yield what is not SAME, worst first: what is UNDECIDED, or the others."""
    told = (
        (case, cell)
        for case, cell in step.cells.items()
        if cell.verdict is not Verdict.SAME and (cell.verdict is Verdict.UNDECIDED) is undecided
    )
    yield from sorted(told, key=lambda item: _rank(item[1]))


def _rank(cell: CellStep) -> tuple[int, float]:
    return WORST_FIRST.index(cell.verdict), -(cell.estimate or 0)


def _behind(
    subject: Subject, tag: str, step: Step
) -> Iterator[tuple[Case, str, float | None, float | None]]:
    """Yield (case, slower since, median before that, median now) of what is behind its best."""
    for case, since in step.behind.items():
        last_good = subject.steps[since].base
        yield case, since, subject.time_us(last_good, case), subject.time_us(tag, case)


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


def _ratios(subject: Subject, step: Step) -> Iterator[list[object]]:
    """Yield what the picture of a comparison shows of each cell that has a ratio."""
    for case, cell in step.cells.items():
        if cell.estimate is not None:
            yield [
                subject.families[case],
                case.workload,
                case.backend,
                cell.verdict,
                round(cell.estimate, 4),
                path_of_cell(case),
            ]
