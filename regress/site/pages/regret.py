"""The regret heat map: what `auto`, or an engine's policy, costs on each workload and release."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from regress.detect.regret import detect_regrets
from regress.model.backends import Regret
from regress.pipeline.backends import races_of
from regress.site.page import Page
from regress.site.subject import Subject
from regress.site.words import path_of_cell, workload_words
from workloads import catalog
from workloads.record import Case

__all__ = ["regret_pages"]

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Row:
    """A choice on a workload, release by release; None where it was not measured."""

    chooser: str
    workload: str
    regrets: tuple[Regret | None, ...]

    @property
    def words(self) -> str:
        """What the workload computes."""
        return workload_words(self.workload)


@dataclass(frozen=True, slots=True)
class _Cost:
    """What `auto` costs under a release, over the workloads that every release was measured on.

    Attributes
    ----------
    worst
        The choice that loses most; None if `auto` was not measured.
    above
        How many lose more than what is tolerated.
    """

    tag: str
    worst: Regret | None
    above: int
    of: int


def regret_pages(subject: Subject) -> Iterator[Page]:
    """Yield the page."""
    tags = [release.tag for release in subject.measured]
    rows = _rows(subject, tags)
    gate = {entry.case.workload for entry in catalog.cases(catalog.TIERS[0])}
    first = [row for row in rows if row.workload in gate]
    others = [row for row in rows if row.workload not in gate]
    yield Page(
        "regret.html",
        "regret.html",
        "Regret",
        {
            "tags": tags,
            "rows": first,
            "costs": [*_costs(tags, first, subject.config.backends.inverted_regret)],
            "heat": _heat(tags, first),
            "others": _heat(tags, others),
            "tolerated": subject.config.backends.inverted_regret,
        },
    )


def _rows(subject: Subject, tags: list[str]) -> list[_Row]:
    found: dict[_Key, dict[str, Regret]] = {}
    for tag in tags:
        races = races_of(subject.families, subject.whole[tag])
        for regret in detect_regrets(races, subject.config.backends):
            chooser = f"{regret.chooser}, {regret.mode} plan"
            found.setdefault((chooser, regret.workload), {})[tag] = regret
    order = {case.workload: place for place, case in enumerate(subject.families)}
    keys = sorted(found, key=lambda key: (key[0], order[key[1]]))
    return [_Row(*key, tuple(found[key].get(tag) for tag in tags)) for key in keys]


def _costs(tags: list[str], rows: list[_Row], tolerated: float) -> Iterator[_Cost]:
    """Yield what backends that choose cost, newest release first."""
    for place, tag in reversed([*enumerate(tags)]):
        found = [row.regrets[place] for row in rows]
        auto = [regret for regret in found if regret and regret.chooser == regret.picked]
        worst = max(auto, key=lambda regret: regret.ratio.estimate, default=None)
        above = sum(regret.ratio.estimate > tolerated for regret in auto)
        yield _Cost(tag, worst, above, len(auto))


def _heat(tags: list[str], rows: list[_Row]) -> Mapping[str, object]:
    return {"tags": tags, "rows": [_told(row) for row in rows]}


def _told(row: _Row) -> Mapping[str, object]:
    known = [regret for regret in row.regrets if regret]
    return {
        "group": row.chooser,
        "label": row.workload,
        "sub": "",
        "href": path_of_cell(Case(row.workload, known[-1].picked)),
        "ratios": [regret and round(regret.ratio.estimate, 4) for regret in row.regrets],
        "notes": [regret and _note(regret) for regret in row.regrets],
    }


def _note(regret: Regret) -> str:
    became = f" (which became {regret.resolved})" if regret.resolved else ""
    across = "" if regret.like_for_like else "; not like for like"
    return f"{regret.picked}{became} against {regret.best}{across}"
