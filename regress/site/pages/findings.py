"""The findings: every change over the releases with its cause, as a page and as a feed."""

import re
from collections.abc import Iterable, Iterator, Mapping
from xml.etree import ElementTree as ET

from regress.model.history import HistoryFinding
from regress.report.history_stories import Story, stories_of
from regress.report.history_suspects import suspects_of
from regress.site.page import Page
from regress.site.subject import Subject
from regress.site.words import sentence, times

__all__ = ["anchors_of", "feed", "finding_pages"]

_ATOM = "http://www.w3.org/2005/Atom"
_PART = re.compile("-(?:after|until)-")
"""What follows is of a part of a change: what was taken back, or began later."""


def finding_pages(subject: Subject) -> Iterator[Page]:
    """Yield the page."""
    told = subject.history
    stories = stories_of(told, told.findings) if told else ()
    standing = [s for s in stories if s.worse and s.lead.standing]
    over = [s for s in stories if s.worse and not s.lead.standing]
    better = [s for s in stories if not s.worse]
    yield Page(
        "findings.html",
        "findings.html",
        "Findings",
        {
            "history": told,
            "suspects": suspects_of(told) if told else (),
            "standing": standing,
            "over": over,
            "better": better,
            "anchors": anchors_of([*standing, *over, *better]),
        },
    )


def anchors_of(stories: Iterable[Story]) -> Mapping[str, list[str]]:
    """Return further ids for the stories of a page, by the id of each one's leading finding.

    Findings that a story tells with its first keep theirs. A change of which nothing stands has no
    finding of its bare id; its address leads to the first part of it.

    Parameters
    ----------
    stories
        In the order of the page.
    """
    told = [(story, finding.id) for story in stories for finding in story.findings]
    taken = {name for _, name in told}
    found: dict[str, list[str]] = {}
    for story, name in told:
        lead = story.lead.id
        found.setdefault(lead, []).extend([name] if name != lead else [])
        base = _PART.split(name)[0]
        if base not in taken:
            taken.add(base)
            found[lead].append(base)
    return found


def feed(subject: Subject, url: str) -> str:
    """Return the findings as an Atom feed (RFC 4287), newest release first.

    Parameters
    ----------
    url
        Where the site is served, ending in `/`; empty if that is not known, links are relative
        then.
    """
    ET.register_namespace("", _ATOM)
    days = {release.tag: release.released for release in subject.releases}
    findings = subject.history.findings if subject.history else ()
    newest = sorted(findings, key=lambda f: days[f.first_bad], reverse=True)
    root = ET.Element(f"{{{_ATOM}}}feed")
    _add(root, "title", f"attention-regress on {subject.machine}: findings")
    _add(root, "id", f"urn:attention-regress:{subject.machine}")
    _add(root, "updated", days[newest[0].first_bad] if newest else subject.measured[-1].released)
    _add(root, "link", rel="self", href=f"{url}findings.atom")
    _add(root, "link", rel="alternate", href=f"{url}findings.html")
    author = _add(root, "author")
    _add(author, "name", "attention-regress")
    for finding in newest:
        _entry(root, subject.machine, finding, days[finding.first_bad], url)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _entry(root: ET.Element, machine: str, finding: HistoryFinding, day: str, url: str) -> None:
    entry = _add(root, "entry")
    size = f", {times(finding.size)}" if finding.size is not None else ""
    cells = f"{len(finding.cases)} cells{size}"
    _add(entry, "title", f"{finding.verdict} in {finding.first_bad}: {cells}")
    _add(entry, "id", f"urn:attention-regress:{machine}:{finding.id}")
    _add(entry, "updated", day)
    _add(entry, "link", rel="alternate", href=f"{url}findings.html#{finding.id}")
    cause = () if finding.cause.summary in finding.reason else (sentence(finding.cause.summary),)
    _add(entry, "summary", " ".join((sentence(finding.reason), *cause, finding.reproduce)))


def _add(parent: ET.Element, name: str, text: str = "", **attributes: str) -> ET.Element:
    made = ET.SubElement(parent, f"{{{_ATOM}}}{name}", attributes)
    made.text = text or None
    return made
