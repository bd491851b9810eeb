"""Which rounds must hold a case, and which rounds there must be."""

import pytest

from regress.pipeline.ab.runs import is_whole
from regress.pipeline.cells import build_cells, index
from regress.pipeline.missing import mark_missing, missing_rounds
from tests.regress.builders import NO_NOISE, make_round, measured
from workloads import catalog
from workloads.record import Case, Design, Round

GATE, NIGHTLY, SWEEP = (
    next(e.case for e in catalog.cases(tier) if e.tier == tier) for tier in catalog.TIERS
)
OTHER = Case("a-workload-of-mine", "a-backend-of-mine")
FILLER = Case("another-workload-of-mine", "a-backend-of-mine")


def _round(number: int, tier: str, *cases: Case, campaign: str = "c1") -> Round:
    return make_round("v1", number, [measured(c, 1.0) for c in cases], campaign, tier=tier)


def _lacking(case: Case, *rounds: Round, hand_picked: bool = False) -> tuple[str, ...]:
    cells = build_cells({case: "made-up"}, index(rounds), {}, NO_NOISE)
    (cell,) = mark_missing(cells, rounds, (), hand_picked=hand_picked)
    assert cell.head.lacking == ()
    return cell.base.lacking


@pytest.mark.parametrize(
    ("case", "tiers"),
    [
        (GATE, ["gate", "nightly", "sweep"]),
        (NIGHTLY, ["nightly", "sweep"]),
        (SWEEP, ["sweep"]),
        (OTHER, []),
    ],
)
def test_a_round_must_hold_the_cases_of_its_tier(case: Case, tiers: list[str]) -> None:
    """Larger tiers hold the smaller ones; other cases are not asked for."""
    rounds = [_round(n, tier, FILLER) for n, tier in enumerate(catalog.TIERS)]
    expected = tuple(r.id for r in rounds if r.tier in tiers)
    assert _lacking(case, *rounds) == expected
    assert _lacking(case, *(_round(n, t, case) for n, t in enumerate(catalog.TIERS))) == ()


def test_hand_picked_rounds_of_a_campaign_hold_the_same() -> None:
    """What one of them holds, all of the campaign should, but not those of other campaigns."""
    rounds = [_round(0, "custom", OTHER), _round(1, "custom", FILLER)]
    rounds += [_round(2, "custom", FILLER, campaign="c2"), _round(3, "gate", FILLER)]
    assert _lacking(OTHER, *rounds, hand_picked=True) == ("v1-c1-1",)
    assert _lacking(OTHER, *rounds) == ()


def _planned(
    tag: str, block: int, stacks: tuple[str, ...] = ("v1", "v2"), campaign: str = "c1"
) -> Round:
    design = Design("run", "rounds", stacks, block, 3)
    return make_round(tag, block, [measured(GATE, 1.0)], campaign, design=design)


WHOLE = [_planned(tag, block) for tag in ("v1", "v2") for block in (1, 2, 3)]


def _missing(*rounds: Round) -> list[str]:
    return [f.reason.message for f in missing_rounds(rounds, ("v1", "v2"), {GATE: "made-up"})]


def test_all_that_was_planned_is_there() -> None:
    """A whole run, and a single round without a plan, lack nothing."""
    assert _missing(*WHOLE, make_round("v1", 9, [measured(GATE, 1.0)])) == []


@pytest.mark.parametrize("lost", range(6))
def test_any_vanished_round_is_missed(lost: int) -> None:
    """The other rounds tell which block of which stack is gone."""
    gone = WHOLE[lost]
    assert gone.design
    (told,) = _missing(*WHOLE[:lost], *WHOLE[lost + 1 :])
    assert (
        told == f"run run, rounds: no round of {gone.stack.tag} in block {gone.design.block} of 3"
    )


def test_a_block_measured_again_is_not_missed() -> None:
    """A block that was broken off counts when a later campaign measured it."""
    rest = [r for r in WHOLE if r.design and (r.stack.tag, r.design.block) != ("v2", 2)]
    assert _missing(*rest, _planned("v2", 2, campaign="c2")) == []


def test_runs_of_other_stacks_do_not_count() -> None:
    """What was planned with a stack that is not compared is no business of this comparison."""
    assert _missing(*WHOLE, _planned("v1", 1, ("v1", "v3"))) == []


def test_a_backfill_misses_no_rounds() -> None:
    """Its groups end where its time does: what a group lacks is no lost data."""
    design = Design("run", "backfill-2", ("v1", "v2"), 1, 1)
    alone = make_round("v1", 1, [measured(GATE, 1.0)], design=design)
    assert list(missing_rounds([alone], ("v1", "v2"), {GATE: "made-up"})) == []
    assert is_whole(alone)
