"""Rounds that could be judged too and were left aside: what they would have said."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Final, TypeVar

from regress.config import Config
from regress.detect import DETECTORS
from regress.errors import ExitCode
from regress.gate import cell_verdicts
from regress.model.report import CellVerdict
from regress.model.verdict import EXIT_CODES, WORST_FIRST, Verdict
from regress.pipeline.cells import build_cells, index
from regress.pipeline.noise import Index, Noise, calibrated_noise, first_start
from regress.store.setup import Setup, setup
from workloads.record import Case, Round

__all__ = ["left_aside"]

_RED: Final = tuple(v for v in WORST_FIRST if EXIT_CODES[v] is ExitCode.REGRESSION)
_Rounds = Mapping[str, Sequence[Round]]
_Key = TypeVar("_Key")


def left_aside(
    every: _Rounds,
    pair: tuple[str, str],
    wanted: Mapping[Case, str],
    judged: Iterable[CellVerdict],
    config: Config,
) -> Iterator[str]:
    """Tell which other campaigns and set-ups show cells got worse that the check does not.

    Each is judged alone with the same rules, if it has rounds enough of both stacks.
    """
    known = {cell.case for cell in judged if cell.verdict in _RED}
    for name, chosen, rest in _alternatives(every, pair):
        sides = [chosen[tag] for tag in pair]
        if min(map(len, sides)) < config.kernel_time.min_rounds:
            continue
        base, head = map(index, sides)
        limits = calibrated_noise(setup(sides[0][0]), first_start(*sides), or_first=True)
        noise = Noise((base, head), cache(partial(_indexes, rest)), config.noise, limits)
        cells = build_cells(wanted, base, head, noise)
        findings = [finding for detect in DETECTORS for finding in detect(cells, config)]
        counts = Counter(c.verdict for c in cell_verdicts(findings) if c.case not in known)
        if told := _told(counts):
            yield f"{name}, left aside, shows {told}: look at these rounds alone with --rounds"


def _indexes(rest: Sequence[Sequence[Round]]) -> tuple[Index, ...]:
    return tuple(map(index, rest))


def _told(counts: Mapping[Verdict, int]) -> str:
    return ", ".join(f"{counts[v]} {v}" for v in _RED if counts[v])


def _alternatives(
    every: _Rounds, pair: tuple[str, str]
) -> Iterator[tuple[str, _Rounds, list[Sequence[Round]]]]:
    """Yield set-ups and campaigns that hold both stacks, with the rounds that only tell noise."""
    setups = _shared([setup(r) for r in every[tag]] for tag in pair)
    for key in setups:
        alike = {tag: [r for r in rounds if setup(r) == key] for tag, rounds in every.items()}
        rest: list[Sequence[Round]] = [rounds for tag, rounds in alike.items() if tag not in pair]
        if len(setups) > 1:
            yield f"the set-up with {_differing(key, setups)}", alike, rest
        campaigns = _shared([r.campaign for r in alike[tag]] for tag in pair)
        for campaign in campaigns if len(campaigns) > 1 else ():
            chosen = {tag: [r for r in alike[tag] if r.campaign == campaign] for tag in pair}
            others = [[r for r in alike[tag] if r.campaign != campaign] for tag in pair]
            yield f"campaign {campaign}", chosen, [*rest, *others]


def _shared(sides: Iterable[Iterable[_Key]]) -> list[_Key]:
    """Return what occurs on every side, in order of the first."""
    first, *others = (dict.fromkeys(side) for side in sides)
    return [key for key in first if all(key in side for side in others)]


def _differing(key: Setup, setups: Iterable[Setup]) -> str:
    values = [dict(other) for other in setups]
    return ", ".join(
        f"{name} {value or 'none'}"
        for name, value in key
        if any(other[name] != value for other in values)
    )
