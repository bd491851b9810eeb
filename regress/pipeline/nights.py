"""One stack against itself: whether the host got slower, where the library cannot have."""

import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Final

from msgspec.structs import replace

from regress.config import Config
from regress.counted import counted
from regress.detect import DETECTORS
from regress.errors import NoDataError
from regress.model.finding import Finding
from regress.model.reason import REASONS, Reason, ReasonCode
from regress.model.report import CheckReport
from regress.pipeline.check import cells_of, whole_rounds
from regress.pipeline.compose import Judged, compose, set_aside
from regress.pipeline.doubts import doubts
from regress.pipeline.missing import missing_rounds
from regress.pipeline.request import Request
from regress.store.rounds import load_machine
from regress.store.setup import comparable, setup
from regress.store.tree import load_known_tags, scan
from workloads.record import Round

__all__ = ["check_nights", "start_of"]

_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"


def check_nights(
    tag: str, since: datetime, request: Request, config: Config, before: datetime | None = None
) -> CheckReport:
    """Compare a stack's rounds since a time with those of the campaign before.

    That is the last one which ran on the same card, if any did, as cards of a model differ.
    `before` asks for an older one: once a host is slow, the night before was slow too.

    Raises
    ------
    UsageError
        If the request or a round file is wrong, or the set-ups of the two differ.
    NoDataError
        If there is nothing on one side.
    """
    tree = scan(request.roots)
    machine = tree.choose_machine((tag,), request.machine, load_known_tags())
    loaded = load_machine(tree, machine)
    rounds = whole_rounds(loaded, tag)
    late = tuple(r for r in rounds if start_of(r) >= since)
    early = _campaign_before(rounds, late, min(before or since, since))
    if not (late and early):
        when = f"before {before or since:{_TIME}}" if late else f"since {since:{_TIME}}"
        msg = f"stack {tag} has no rounds on {machine} {when}: there is nothing to compare"
        raise NoDataError(msg)
    shared = comparable(early, late)
    sides = _with(shared, early), _with(shared, late)
    request = request.settle(*sides)
    others = [_with(shared, found) for name, found in loaded.rounds.items() if name != tag]
    cells = cells_of(sides, others, request, config)
    findings = [_of_host(finding) for detect in DETECTORS for finding in detect(cells, config)]
    findings += missing_rounds(late, (tag,), {cell.case: cell.family for cell in cells})
    warnings = (
        *_told(sides),
        *loaded.warnings,
        *set_aside(loaded, shared, (tag,)),
        # That no campaign holds both sides is no doubt here: it is so by design.
        *doubts([dataclasses.replace(cell, block=False) for cell in cells], sides),
    )
    judged = Judged(request, (tag, tag), machine, shared, sides, cells, findings, warnings)
    return compose(judged, loaded.rounds, config)


def _of_host(finding: Finding) -> Finding:
    """Say that a kernel got slower, where between two stacks the same one would be a noise alarm.

    Here it is always the same, and that its times differ is what is asked for.
    """
    if finding.reason.code is not ReasonCode.NOISE_ALARM or finding.measured is None:
        return finding
    slower = finding.measured.ratio.estimate > 1
    code = ReasonCode.SLOWER if slower else ReasonCode.FASTER
    reason = Reason(code, finding.reason.message)
    return replace(finding, verdict=REASONS[code].verdict, reason=reason)


def start_of(found: Round) -> datetime:
    """Return when a round was started, UTC."""
    return datetime.fromisoformat(found.started_at).astimezone(UTC)


def _campaign_before(
    rounds: Sequence[Round], late: Sequence[Round], before: datetime
) -> tuple[Round, ...]:
    early = [r for r in rounds if start_of(r) < before]
    cards = {r.machine.gpu_uuid for r in late}
    same_card = [r for r in early if r.machine.gpu_uuid in cards]
    candidates = same_card or early
    return tuple(r for r in candidates if r.campaign == candidates[-1].campaign)


def _with(shared: object, rounds: Sequence[Round]) -> tuple[Round, ...]:
    return tuple(r for r in rounds if setup(r) == shared)


def _told(sides: tuple[Sequence[Round], Sequence[Round]]) -> list[str]:
    base, head = sides
    begins = [f"{counted(len(side), 'round')} from {side[0].started_at}" for side in sides]
    lines = [f"one stack at two times: base is {begins[0]}, head {begins[1]}"]
    cards = {r.machine.gpu_uuid for r in chain(*sides)}
    if {r.machine.gpu_uuid for r in base} != {r.machine.gpu_uuid for r in head}:
        lines.append(f"the two times are of {counted(len(cards), 'card')}: cards of a model differ")
    return lines
