"""What an upgrade does to step costs: the verdicts of `check` on the cells behind them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from regress.config import Config
from regress.detect.decide import ratio_of, strata_of
from regress.detect.step_cost import Priced
from regress.errors import ExitCode, worst
from regress.gate import worst_first
from regress.model.cell import Pairs
from regress.model.finding import Finding, Ratio
from regress.model.profile import Deployment
from regress.model.step_cost import CellChange, Part, Source, Upgrade
from regress.model.thresholds import StackPair
from regress.model.verdict import WORST_FIRST, Verdict, exit_code_of, join
from regress.pipeline.check import check
from regress.pipeline.request import ANY_TIER, Request
from regress.stats.shift import shift
from workloads.record import Case

__all__ = ["upgrades_of"]


@dataclass(frozen=True, slots=True)
class _Judged:
    """What `check` said, by case."""

    verdicts: Mapping[Case, Verdict]
    findings: Mapping[Case, Finding]


def upgrades_of(
    deployment: Deployment,
    stacks: StackPair,
    priced: Mapping[str, Mapping[str, Priced]],
    request: Request,
    config: Config,
) -> list[tuple[Upgrade, ExitCode]]:
    """Return what changed for every wanted backend, worst first; nothing for one stack.

    Raises
    ------
    UsageError
        If the sides may not be compared.
    """
    if stacks.base is None:
        return []
    base, head = priced[stacks.base], priced[stacks.head]
    names = [name for name in deployment.backends if name in base and name in head]
    pairs = {name: (base[name], head[name]) for name in names}
    parts = (part for pair in pairs.values() for side in pair for part in side.told.parts)
    judged = _judged(stacks, (case for part in parts for case in part.cases), request, config)
    fails = config.spread.fails
    found = []
    for name, (before, after) in pairs.items():
        sides = zip(before.told.parts, after.told.parts, strict=True)
        cells = tuple(cell for parts in sides for cell in _cells(name, parts, judged))
        if not cells:
            continue
        upgrade = _upgrade(before, after, cells, config.kernel_time.equivalence_alpha)
        codes = (exit_code_of(cell.verdict, variance_fails=fails) for cell in upgrade.cells)
        found.append((upgrade, worst(codes)))
    return sorted(found, key=lambda pair: WORST_FIRST.index(pair[0].verdict))


def _judged(stacks: StackPair, cases: Iterable[Case], request: Request, config: Config) -> _Judged:
    """Let `check` judge some cases by whatever rounds there are."""
    listed = "|".join(sorted(re.escape(str(case)) for case in set(cases)))
    if stacks.base is None or not listed:
        return _Judged({}, {})
    wanted = replace(request, tier=ANY_TIER, pattern=rf"^(?:{listed})$")
    report = check(stacks.base, stacks.head, wanted, config)
    findings: dict[Case, Finding] = {}
    for finding in worst_first(report.findings):
        findings.setdefault(finding.series.case, finding)
    return _Judged({cell.case: cell.verdict for cell in report.cells}, findings)


def _upgrade(before: Priced, after: Priced, cells: tuple[CellChange, ...], alpha: float) -> Upgrade:
    pairs, across = _pairs(before, after)
    ratio, ends = None, (before.told.step_us, after.told.step_us)
    if pairs:
        ratio = ratio_of(shift(strata_of(pairs), alpha))
    elif all(side.told.source.by_rounds for side in (before, after)) and ends[0] and ends[1]:
        ratio = Ratio(ends[1] / ends[0], None, None, 0.0)
    return Upgrade(
        backend=after.told.backend,
        verdict=join(cell.verdict for cell in cells),
        base_us=ends[0],
        head_us=ends[1],
        ratio=ratio,
        across=across,
        cells=cells,
    )


def _cells(name: str, parts: tuple[Part, Part], judged: _Judged) -> Iterator[CellChange]:
    """Yield every cell behind a batch; a side that rests on none is NO_DATA whatever the other.

    What cannot run in either stack is no cell.
    """
    if all(part.source is Source.REFUSED for part in parts):
        return
    cases = dict.fromkeys(case for part in parts for case in part.cases)
    load = parts[0].load
    for case in cases:
        verdict, finding = judged.verdicts.get(case), judged.findings.get(case)
        if verdict is None or finding is None:
            yield CellChange(case, load, Verdict.NO_DATA, None, "not judged by `check`")
        else:
            reason = finding.reason
            yield CellChange(case, load, verdict, reason.code, reason.message)
    lacking = [side for side, part in zip(("base", "head"), parts, strict=True) if not part.cases]
    if lacking:
        message = f"not measured in {' and '.join(lacking)}"
        yield CellChange(Case(load, name), load, Verdict.NO_DATA, None, message)


def _pairs(before: Priced, after: Priced) -> tuple[Pairs, bool]:
    """Return step costs round by round, campaign by campaign; if none holds both, as one block."""
    base, head = before.rounds_us, after.rounds_us
    shared = [c for c in base if c in head]
    if shared:
        return tuple((tuple(base[c].values()), tuple(head[c].values())) for c in shared), False
    block = tuple(tuple(us for c in side.values() for us in c.values()) for side in (base, head))
    return (((block[0], block[1]),), True) if all(block) else ((), False)
