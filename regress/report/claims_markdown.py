"""The claims of the articles as a Markdown table."""

from collections import Counter
from collections.abc import Iterator, Sequence

from regress.model.claims import ARTICLES, ClaimResult, Outcome
from regress.report.markdown import row, table

__all__ = ["render_claims"]


def render_claims(results: Sequence[ClaimResult]) -> str:
    """Return how many claims hold, then a table for each article."""
    counts = Counter(result.outcome for result in results)
    told = ", ".join(f"{counts[o]} {_VERBS[o]}" for o in Outcome if counts[o])
    return "\n".join((f"Of {len(results)} claims {told}.", *_tables(results))) + "\n"


_VERBS = {
    Outcome.HOLDS: "hold",
    Outcome.PARTLY: "hold partly",
    Outcome.FAILS: "do not hold",
    Outcome.UNTESTED: "not tested",
}


def _tables(results: Sequence[ClaimResult]) -> Iterator[str]:
    for letter, article in ARTICLES.items():
        yield f"\n### {article[0].upper()}{article[1:]}\n"
        yield from table("claim", "what it says", "verdict", "recorded on the H200")
        for r in results:
            if r.code.startswith(letter):
                yield row((r.code, r.statement, r.outcome, r.numbers))
