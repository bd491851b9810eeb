"""Which rounds a calibration rests on."""

import msgspec
import pytest

from regress.errors import NoDataError
from regress.pipeline.calibrate.data import pick_rounds, strata_of_twins
from tests.regress.builders import MACHINE, lost
from tests.regress.pipeline.twins import CASES, TAGS, staged, twin_rounds
from workloads.record import Round


def test_only_whole_tiers_count() -> None:
    """Later stages, confirmations and hand-picked rounds hold cells chosen by their times."""
    first, *rest = twin_rounds(1, 6)["v1"]
    odd = [
        staged(rest[0], "screen-2"),
        staged(rest[1], "confirm"),
        msgspec.structs.replace(rest[2], tier="custom"),
    ]
    good = [first, staged(rest[3], "rounds"), staged(rest[4], "screen-1")]
    used = pick_rounds({"v1": (*odd, *good)}, TAGS)
    assert {r.id for r in used} == {r.id for r in good}


def test_one_set_up_with_the_most_rounds_of_the_twins() -> None:
    """Rounds of another toolchain are left aside, rounds of other stacks are kept."""
    found = twin_rounds(1, 6)
    newer = msgspec.structs.replace(MACHINE, torch="3.0")
    odd = [msgspec.structs.replace(r, id=f"{r.id}n", machine=newer) for r in found["v1"][:5]]
    used = pick_rounds({**found, "other": tuple(odd), "v3": _other(found["v1"])}, TAGS)
    assert {r.machine.torch for r in used} == {MACHINE.torch}
    assert len([r for r in used if r.stack.tag == "v3"]) == 6


def _other(rounds: tuple[Round, ...]) -> tuple[Round, ...]:
    return tuple(
        msgspec.structs.replace(r, id=f"{r.id}o", stack=msgspec.structs.replace(r.stack, tag="v3"))
        for r in rounds
    )


def test_without_the_twins_there_is_nothing_to_calibrate() -> None:
    """The message names them."""
    with pytest.raises(NoDataError, match="v7 or v8"):
        pick_rounds(twin_rounds(1), ("v7", "v8"))


def test_a_campaign_needs_enough_rounds() -> None:
    """Three rounds a side are too few to draw gates from, six are enough."""
    few, enough = twin_rounds(1, 3), twin_rounds(2, 6)
    used = pick_rounds({tag: (*few[tag], *enough[tag][6:]) for tag in TAGS}, TAGS)
    assert [s.campaign for s in strata_of_twins(used, TAGS, "gate")] == ["c2"]


def test_rounds_of_smaller_tiers_cannot_stand_for_larger_ones() -> None:
    """Gate rounds hold no nightly cells, nightly rounds hold all gate cells."""
    gate, nightly = (pick_rounds(twin_rounds(1, tier=t), TAGS) for t in ("gate", "nightly"))
    assert not strata_of_twins(gate, TAGS, "nightly")
    assert strata_of_twins(nightly, TAGS, "gate")[0].cases == CASES


def test_a_case_that_was_lost_once_is_not_simulated() -> None:
    """In no campaign, as gates of all have the same cells."""
    first, *rest = pick_rounds(twin_rounds(2), TAGS)
    records = (lost(CASES[0]), *first.cases[1:])
    used = [msgspec.structs.replace(first, cases=records), *rest]
    assert {s.cases for s in strata_of_twins(used, TAGS, "gate")} == {CASES[1:]}
