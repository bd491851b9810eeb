"""Regret of `auto` and of policies."""

import pytest

from regress.detect.regret import detect_regrets, query_family, sum_up
from regress.model.backends import AdviceCost, Choice, FamilyRegret, QueryFamily, Regret
from regress.model.race import Race
from tests.regress.builders import CONFIG
from workloads.backend import Mode
from workloads.workload import parse

RULE = CONFIG.backends
DECODE = parse("decode-h32x8-d128-bf16-p16-b64-uniform-t262144")
SHORT = parse("prefill-h32x8-d128-bf16-p16-q16-b16-uniform-t65536")
LONG = parse("prefill-h32x8-d128-bf16-p16-q8192-b1-uniform-t8192")
AUTO, FA2, FA3 = (f"flashinfer-decode-tc-{path}" for path in ("auto", "fa2", "fa3"))
WIGGLE = (1.0, 1.001, 0.999, 1.002, 0.998)


def _race(times: dict[str, float], workload: object = DECODE, rounds: int = 5) -> Race:
    many = {name: [t * w for w in WIGGLE[:rounds]] for name, t in times.items()}
    return Race(workload, many, {AUTO: "fa3"}, ("r",))  # type: ignore[arg-type]


def _of(race: Race, chooser: str) -> Regret:
    (regret,) = [r for r in detect_regrets([race], RULE) if r.chooser == chooser]
    return regret


def _family(races: list[Race], chooser: str) -> FamilyRegret:
    regrets = [r for r in detect_regrets(races, RULE) if r.chooser == chooser]
    (family,) = sum_up(regrets, races, RULE)
    return family


def test_families_by_query_length() -> None:
    """Prefill is short up to the configured query length."""
    assert [query_family(w, RULE) for w in (DECODE, SHORT, LONG)] == list(QueryFamily)


def test_auto_against_the_best_paged_backend() -> None:
    """Contiguous KV is faster here, but not like for like with paged."""
    regret = _of(_race({AUTO: 1000, FA2: 250, FA3: 990, "fa3-varlen": 200}), AUTO)
    assert (regret.best, regret.resolved, regret.inverted) == (FA2, "fa3", True)
    assert regret.ratio.estimate == pytest.approx(4.0, rel=0.01)


def test_a_policy_that_picks_contiguous_kv_faces_all() -> None:
    """It is judged against paged ones too, and labelled."""
    regret = _of(_race({FA2: 250, "fa3-varlen": 300}), "sglang-hopper-fa3")
    assert (regret.best, regret.like_for_like, regret.inverted) == (FA2, False, True)


def test_modes_do_not_mix() -> None:
    """Serving auto is judged against serving backends only."""
    serving = {f"{AUTO}-serving": 500, f"{FA2}-serving": 250, FA2: 100}
    regret = _of(_race(serving), f"{AUTO}-serving")
    assert (regret.mode, regret.best) == (Mode.SERVING, f"{FA2}-serving")


def test_a_choice_that_is_the_best_has_no_regret() -> None:
    """Without a faster rival the regret is exactly 1."""
    regret = _of(_race({AUTO: 100, FA2: 250}), AUTO)
    assert (regret.ratio.estimate, regret.inverted) == (1.0, False)


def test_small_regret_is_tolerated() -> None:
    """Four percent is below the configured regret."""
    assert _of(_race({AUTO: 104, FA2: 100}), AUTO).inverted is False


def test_too_few_rounds_leave_it_open() -> None:
    """With two rounds the ratio is shown and nothing is decided."""
    regret = _of(_race({AUTO: 1000, FA2: 250}, rounds=2), AUTO)
    assert regret.inverted is None
    assert _family([_race({AUTO: 1000, FA2: 250}, rounds=2)], AUTO).choice is Choice.UNDECIDED


def test_an_inverted_family_says_what_to_do() -> None:
    """Median, worst, best backend and the way to get it."""
    races = [_race({AUTO: 100 * k, FA2: 100}) for k in (2, 3, 5)]
    family = _family(races, AUTO)
    assert family.choice is Choice.INVERTED
    assert (family.median, family.worst) == pytest.approx((3.0, 5.0), rel=0.01)
    assert family.best == FA2
    assert 'backend="fa2"' in family.advice


def test_a_few_exceptions_do_not_invert_a_family() -> None:
    """One workload in six is below the configured share."""
    races = [_race({AUTO: 100, FA2: 120})] * 5 + [_race({AUTO: 200, FA2: 100})]
    family = _family(races, AUTO)
    assert (family.choice, family.inverted, family.advice) == (Choice.NOT_INVERTED, 1, "")


def test_advice_tells_its_own_cliff() -> None:
    """Where the backend that is best most often is far behind, cost and workload are named."""
    cuda = "flashinfer-decode-cuda"
    other = parse("decode-h32x8-d128-bf16-p16-b256-uniform-t262144")
    usual = [
        _race(
            {AUTO: 900, FA2: 100, cuda: 120},
            parse(f"decode-h32x8-d128-bf16-p16-b{b}-uniform-t65536"),
        )
        for b in (8, 16)
    ]
    family = _family([*usual, _race({AUTO: 900, FA2: 380, cuda: 100}, other)], AUTO)
    assert (family.best, family.tied) == (FA2, ())
    assert family.cost == AdviceCost(pytest.approx(3.8), other.slug, behind=1, workloads=3)


def test_a_tie_is_told_as_a_tie() -> None:
    """Of two that are best equally often the one with the smaller cost is advised."""
    cuda = "flashinfer-decode-cuda"
    family = _family(
        [
            _race({AUTO: 900, FA2: 100, cuda: 120}),
            _race(
                {AUTO: 900, FA2: 380, cuda: 100},
                parse("decode-h32x8-d128-bf16-p16-b256-uniform-t262144"),
            ),
        ],
        AUTO,
    )
    assert (family.best, family.tied, family.best_in) == (cuda, (FA2,), 1)
    assert family.cost.worst == pytest.approx(1.2)
