"""Releases measured in several campaigns: what comparing campaigns with each other is worth."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from regress.config import Config
from regress.detect.ab import detect_kernel_time
from regress.model.finding import Finding, Metric
from regress.model.reason import ReasonCode
from regress.pipeline.cells import build_cells, index
from regress.pipeline.noise import Index, Noise, first_start, of_others
from regress.site.releases import Release
from workloads import catalog
from workloads.record import Case, Round

__all__ = ["Repeats", "count_repeats"]

_CHANGED = frozenset({ReasonCode.SLOWER, ReasonCode.FASTER, ReasonCode.NOISE_ALARM})


@dataclass(frozen=True, slots=True)
class Repeats:
    """Comparisons of a release with itself, measured again in another campaign.

    Attributes
    ----------
    cells
        How many cells were compared, of the smallest tier.
    changed
        Of how many the times are said to have changed, noise alarms too; nothing had.
    """

    cells: int
    changed: int


def count_repeats(
    measured: Sequence[Release],
    indexes: Mapping[str, Index],
    calibrated: Callable[[str], Mapping[Case, Mapping[Metric, float]]],
    config: Config,
) -> Repeats:
    """Compare each release's campaigns with each other by the rules of a block comparison.

    Parameters
    ----------
    measured, indexes, calibrated
        As of `judge_pairs`.
    """
    found = [
        finding
        for release in measured
        for finding in _repeated(release, indexes, calibrated, config)
    ]
    return Repeats(len(found), sum(finding.reason.code in _CHANGED for finding in found))


def _repeated(
    release: Release,
    indexes: Mapping[str, Index],
    calibrated: Callable[[str], Mapping[Case, Mapping[Metric, float]]],
    config: Config,
) -> Iterator[Finding]:
    wanted = {entry.case: entry.family for entry in catalog.cases(catalog.TIERS[0])}
    others = partial(of_others, indexes, release.tag)
    campaigns: dict[str, list[Round]] = {}
    for r in release.rounds:
        campaigns.setdefault(r.campaign, []).append(r)
    enough = [c for c in campaigns.values() if len(c) >= config.kernel_time.min_rounds]
    for base, head in combinations(enough, 2):
        sides = index(base), index(head)
        known = Noise(sides, others, config.noise, calibrated(first_start(base, head)))
        yield from detect_kernel_time(build_cells(wanted, *sides, known), config)
