"""Rules of other tools."""

from functools import partial

import numpy as np
import pytest

from regress.detect.rules import RULES, Rule
from regress.detect.rules.asv import asv_slower
from regress.detect.rules.divisive import divisive_slower, energy
from regress.detect.rules.medians import medians_slower
from regress.detect.rules.pooled import ranks_slower, ratio_slower, welch_slower
from regress.stats.exact import Floats

CELLS = 4
EACH = [(rule, rounds) for rule in RULES for rounds in rule.rounds]


def _rounds(rounds: int, seed: int = 1, noise: float = 0.001) -> Floats:
    rng = np.random.default_rng(seed)
    return np.exp(np.log(100) + rng.normal(0, noise, (rounds, CELLS, 6)))


@pytest.mark.parametrize(("rule", "rounds"), EACH, ids=lambda v: getattr(v, "name", str(v)))
def test_every_rule_finds_what_is_plain(rule: Rule, rounds: int) -> None:
    """20 % in one cell is called slower by all rules, in that cell alone; faster is not slower."""
    base, head = _rounds(rounds), _rounds(rounds)
    head[:, 2] *= 1.2
    assert rule.slower(base, head).tolist() == [False, False, True, False]
    assert not rule.slower(head, base)[2]


@pytest.mark.parametrize("factor", [1.0, 1.05, 1.1])
def test_asv_needs_both_its_factor_and_its_test(factor: float) -> None:
    """7 % is marked up to a factor of 1.05; twice the noise-free rounds never are."""
    base, head = _rounds(2), _rounds(2, seed=2) * 1.07
    assert asv_slower(base, head, factor=factor).all() == (factor < 1.07)
    assert not asv_slower(base, base, factor=factor).any()


def test_the_ratio_takes_no_account_of_noise() -> None:
    """It calls what is 6 % slower and nothing that is 4 % slower, however plain."""
    slower = partial(ratio_slower, factor=1.05)
    assert slower(_rounds(1), _rounds(1) * 1.06).all()
    assert not slower(_rounds(9), _rounds(9) * 1.04).any()


def test_process_medians_need_all_five_rounds_apart() -> None:
    """Four slow rounds of five are not enough at 0.01, and the floor holds back small changes."""
    base, head = _rounds(5), _rounds(5, seed=2) * 1.03
    assert medians_slower(base, head, floor=0.02).all()
    assert not medians_slower(base, head, floor=0.04).any()
    head[0] = base[0]
    assert not medians_slower(base, head, floor=0.02).any()


def test_pooled_tests_take_one_odd_process_for_a_change() -> None:
    """That is their flaw: a single process that is 1 % off is significant, with its passes."""
    base, head = _rounds(1), _rounds(1, seed=2) * 1.01
    assert ranks_slower(base, head, alpha=0.01).all()
    assert welch_slower(base, head, alpha=0.05).all()


def test_energy_is_the_one_of_the_definition() -> None:
    """The scaled energy distance, computed pair by pair."""
    x = np.array([1.0, 4.0, 2.0, 8.0, 5.0, 7.0])
    found = energy(np.abs(x[:, None] - x[None, :])[None])[0]
    for split in range(1, 6):
        a, b = x[:split], x[split:]

        def within(part: Floats) -> float:
            pairs = [abs(p - q) for i, p in enumerate(part) for q in part[:i]]
            return float(np.mean(pairs)) if pairs else 0.0

        between = float(np.mean([abs(p - q) for p in a for q in b]))
        scale = split * (6 - split) / 6
        expected = scale * (2 * between - within(a) - within(b))
        assert found[split - 1] == pytest.approx(expected)


def test_e_divisive_finds_a_step_and_seldom_one_in_noise() -> None:
    """A step of ten standard deviations is found; of 40 flat series at most a few are called."""
    rng = np.random.default_rng(3)
    base, head = (np.exp(rng.normal(0, 0.002, (10, 40, 6))) for _ in range(2))
    assert divisive_slower(base, head * 1.02, alpha=0.05).all()
    assert divisive_slower(base, head, alpha=0.05).sum() <= 5
