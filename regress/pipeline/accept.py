"""From a request with waivers to accepted findings."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from regress.config import Config
from regress.model.finding import Finding
from regress.model.report import Pinned
from regress.model.waiver import WaiverUse
from regress.pipeline.request import Request
from regress.pipeline.waive import Comparison, waive
from regress.store.stacks import load_published
from regress.store.tree import STACKS_FILE
from workloads import catalog
from workloads.record import Case, Round

__all__ = ["accept", "pinned"]


def accept(  # noqa: PLR0913, PLR0917 - each is a different thing, and none goes with another
    findings: Sequence[Finding],
    request: Request,
    pair: tuple[str, str],
    rounds: Mapping[str, Sequence[Round]],
    judged: Collection[Case],
    config: Config,
) -> tuple[Sequence[Finding], tuple[WaiverUse, ...]]:
    """Apply the request's waivers to what detectors say of the stacks `pair` (base, head).

    `rounds` are those of every stack at hand by tag, `judged` the cases that the request means.

    Raises
    ------
    UsageError
        If the list of stacks cannot be read.
    """
    if request.waivers is None:
        return findings, ()
    planned = (record.case for tag in pair for r in rounds[tag] for record in r.cases)
    tier = frozenset(replace(request, pattern=None, families=()).cases(planned))
    comparison = Comparison(
        *pair,
        today=request.waivers.today,
        judged=judged,
        scopes=(tier, tier | {entry.case for entry in catalog.cases()}),
        most_share=config.waivers.most_share,
        published=load_published(),
        tags=rounds.keys(),
    )
    return waive(findings, request.waivers.entries, comparison)


def pinned(tag: str) -> Pinned | None:
    """Return where the list of published stacks has a stack; None if it is not in there.

    Raises
    ------
    UsageError
        If the list cannot be read.
    """
    lines = {stack.tag: stack.line for stack in load_published()}
    file = STACKS_FILE.relative_to(STACKS_FILE.parents[1]).as_posix()
    return Pinned(file, lines[tag]) if tag in lines else None
