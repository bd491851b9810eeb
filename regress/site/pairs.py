"""Every two measured stacks, judged by the rules of `check`."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations
from typing import Final

from regress.config import Config
from regress.detect import DETECTORS
from regress.detect.ab import detect_kernel_time, detect_plan_time
from regress.errors import UsageError
from regress.gate import cell_verdicts, gate, worst_first
from regress.model.cell import Cell
from regress.model.finding import Finding, Metric
from regress.model.reason import ReasonCode
from regress.model.verdict import Verdict, join
from regress.pipeline.cells import build_cells
from regress.pipeline.missing import mark_missing, missing_rounds
from regress.pipeline.noise import Index, Noise, first_start, of_others
from regress.pipeline.request import ANY_TIER, Request
from regress.site.releases import Release
from workloads.record import Case

__all__ = ["CellOutcome", "Pair", "judge_pairs"]

_TIMES: Final = (detect_kernel_time, detect_plan_time)
"""Their rule is its own mirror image. Host time of plan() counts for no verdict, and no page shows
it of a pair."""
_OTHERS: Final = tuple(detect for detect in DETECTORS if detect not in _TIMES)
_TURNED: Final = {
    Verdict.REGRESSION: Verdict.IMPROVEMENT,
    Verdict.IMPROVEMENT: Verdict.REGRESSION,
}


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """What is said of one case.

    Attributes
    ----------
    across
        Whether no campaign holds both sides, so that campaigns are compared with each other.
    timed
        What the comparison of kernel times says; None if a side has no time.
    findings
        Everything that counts, worst first.
    """

    verdict: Verdict
    across: bool
    timed: Finding | None
    findings: tuple[Finding, ...]

    @property
    def ratio(self) -> float | None:
        """Head over base, or None without times on both sides."""
        return self.timed.measured.ratio.estimate if self.timed and self.timed.measured else None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two stacks, the older one as base.

    Attributes
    ----------
    tier
        The tier that was judged: the largest up to nightly that both sides measured.
    back
        Verdicts with the newer one as base: what going back would do.
    """

    base: str
    head: str
    tier: str
    verdict: Verdict
    cells: Mapping[Case, CellOutcome]
    back: Mapping[Case, Verdict]

    @property
    def counts(self) -> Counter[Verdict]:
        """How many cells have each verdict."""
        return Counter(cell.verdict for cell in self.cells.values())


def judge_pairs(
    measured: Sequence[Release],
    indexes: Mapping[str, Index],
    calibrated: Callable[[str], Mapping[Case, Mapping[Metric, float]]],
    config: Config,
) -> dict[tuple[str, str], Pair]:
    """Judge every stack against every earlier one.

    Two stacks of which neither has anything to say of any case make no pair. One that lost every
    case has.

    Parameters
    ----------
    measured
        Stacks with rounds, oldest first.
    indexes
        What the rounds of each stack hold.
    calibrated
        Upper bounds for rounds of which the first began at a time.
    """
    found = {}
    for base, head in combinations(measured, 2):
        others = partial(of_others, indexes, base.tag, head.tag)
        sides = indexes[base.tag], indexes[head.tag]
        started = first_start(base.rounds, head.rounds)
        known = Noise(sides, others, config.noise, calibrated(started))
        pair = _judge(base, head, known, config)
        if pair is not None:
            found[base.tag, head.tag] = pair
    return found


def _judge(base: Release, head: Release, noise: Noise, config: Config) -> Pair | None:
    asked = Request((), None, "auto", None, "").settle(base.rounds, head.rounds)
    try:
        wanted = asked.cases(chain(*noise.sides))
    except UsageError:
        return None  # No case of that tier.
    cells = build_cells(wanted, *noise.sides, noise)
    cells = mark_missing(cells, base.rounds, head.rounds, hand_picked=asked.tier == ANY_TIER)
    times = tuple(detect_kernel_time(cells, config))
    rounds = chain(base.rounds, head.rounds)
    lost = tuple(missing_rounds(rounds, (base.tag, head.tag), wanted))
    findings = [*times, *lost, *_found(cells, config)]
    told = dict(_outcomes(cells, findings))
    if not any(_is_told(cell) for cell in told.values()):
        return None
    verdict, _ = gate(cell_verdicts(findings), variance_fails=config.spread.fails)
    swapped = [replace(cell, base=cell.head, head=cell.base) for cell in cells]
    back = _back(times, [*lost, *_found(swapped, config)])
    return Pair(base.tag, head.tag, asked.tier, verdict, told, back)


def _is_told(cell: CellOutcome) -> bool:
    return any(f.reason.code is not ReasonCode.NEVER_PLANNED for f in cell.findings)


def _found(cells: Sequence[Cell], config: Config) -> Iterator[Finding]:
    return (finding for detect in _OTHERS for finding in detect(cells, config))


def _back(times: Sequence[Finding], others: Sequence[Finding]) -> dict[Case, Verdict]:
    """Return verdicts of the way back: times turned round, the others found with sides swapped."""
    told: dict[Case, list[Verdict]] = defaultdict(list)
    for cell in cell_verdicts(times):
        told[cell.case].append(_TURNED.get(cell.verdict, cell.verdict))
    for cell in cell_verdicts(others):
        told[cell.case].append(cell.verdict)
    return {case: join(verdicts) for case, verdicts in told.items()}


def _outcomes(
    cells: Sequence[Cell], findings: Sequence[Finding]
) -> Iterator[tuple[Case, CellOutcome]]:
    by_case: dict[Case, list[Finding]] = {cell.case: [] for cell in cells}
    for finding in worst_first(findings):
        if finding.gates:
            by_case.setdefault(finding.series.case, []).append(finding)
    verdicts = {cell.case: cell.verdict for cell in cell_verdicts(findings)}
    across = {cell.case: cell.block for cell in cells}
    for case, found in by_case.items():
        if case in verdicts:
            timed = (f for f in found if f.detector == "ab" and f.measured)
            yield case, CellOutcome(verdicts[case], across[case], next(timed, None), tuple(found))
