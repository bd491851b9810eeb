"""The claims page: what two articles say, and what the rounds say of it."""

from collections import Counter
from collections.abc import Iterator

from regress.model.claims import ARTICLES, Outcome
from regress.pipeline.claims.claims import CLAIMED_OF, evidence_of, judge_claims
from regress.site.page import Page
from regress.site.subject import Subject

__all__ = ["claims_pages"]


def claims_pages(subject: Subject) -> Iterator[Page]:
    """Yield the page, about the release that the articles measured, or else the newest."""
    tags = [release.tag for release in subject.measured]
    tag = CLAIMED_OF if CLAIMED_OF in tags else tags[-1]
    results = judge_claims(evidence_of(subject.rounds[tag], subject.config))
    counts = Counter(result.outcome for result in results)
    yield Page(
        "claims.html",
        "claims.html",
        "Claims",
        {
            "tag": tag,
            "rounds": len(subject.rounds[tag]),
            "counts": [(outcome, counts[outcome]) for outcome in Outcome if counts[outcome]],
            "articles": [
                (f"{name[0].upper()}{name[1:]}", [r for r in results if r.code.startswith(letter)])
                for letter, name in ARTICLES.items()
            ],
        },
    )
