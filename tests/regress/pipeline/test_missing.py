"""Which rounds must hold a case."""

import pytest

from regress.pipeline.cells import build_cells, index
from regress.pipeline.missing import mark_missing
from tests.regress.builders import CONFIG, make_round, measured
from workloads import catalog
from workloads.record import Case, Round

GATE, NIGHTLY, SWEEP = (
    next(e.case for e in catalog.cases(tier) if e.tier == tier) for tier in catalog.TIERS
)
OTHER = Case("a-workload-of-mine", "a-backend-of-mine")
FILLER = Case("another-workload-of-mine", "a-backend-of-mine")


def _round(number: int, tier: str, *cases: Case, campaign: str = "c1") -> Round:
    return make_round("v1", number, [measured(c, 1.0) for c in cases], campaign, tier=tier)


def _lacking(case: Case, *rounds: Round, hand_picked: bool = False) -> tuple[str, ...]:
    cells = build_cells({case: "made-up"}, index(rounds), {}, (), CONFIG)
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
