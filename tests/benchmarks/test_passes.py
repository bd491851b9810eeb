"""Order and length of measuring."""

import random
from itertools import groupby

from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.measure.passes import Settings, is_heavy, pass_order, samples_for
from workloads.catalog import cases
from workloads.cost import cost
from workloads.workload import parse

HEAVY = st.lists(st.booleans(), max_size=60)
SEEDS = st.integers(0, 2**32)


def order_of(heavy: list[bool], seed: int) -> list[int]:
    return pass_order(heavy, random.Random(seed))  # noqa: S311 - an order


def longest_run(heavy: list[bool], order: list[int]) -> int:
    runs = [len(list(run)) for is_it, run in groupby(heavy[i] for i in order) if is_it]
    return max(runs, default=0)


@given(HEAVY, SEEDS)
def test_every_case_has_one_place(heavy: list[bool], seed: int) -> None:
    """An order is a permutation."""
    assert sorted(order_of(heavy, seed)) == list(range(len(heavy)))


@given(HEAVY, SEEDS)
def test_heavy_cases_are_spread(heavy: list[bool], seed: int) -> None:
    """With a light case for each heavy one no more than three heavy ones meet, with two, two."""
    many, few = heavy.count(False), heavy.count(True)
    assume(0 < few <= many)
    assert longest_run(heavy, order_of(heavy, seed)) <= (2 if 2 * few <= many else 3)


@given(HEAVY, SEEDS)
def test_heavy_cases_are_in_every_part(heavy: list[bool], seed: int) -> None:
    """Of the first half of the light cases' places, about half of the heavy ones are before."""
    few, many = heavy.count(True), heavy.count(False)
    assume(few and many)
    order = order_of(heavy, seed)
    lights = 0
    for place, index in enumerate(order):
        lights += not heavy[index]
        before = place + 1 - lights
        # A stratum of one kind reaches over one of the other at either end.
        assert abs(before / few - lights / many) <= 1 / few + 1 / many


def test_passes_have_different_orders() -> None:
    """Another pass puts the cases in another order."""
    heavy = [False] * 20
    draws = random.Random(1)  # noqa: S311 - an order
    assert pass_order(heavy, draws) != pass_order(heavy, draws)


@given(st.floats(0, 1e4), st.floats(0, 1e9))
def test_samples_are_bounded(budget_ms: float, sample_us: float) -> None:
    """A block has 3 to 40 samples, whatever one of them takes."""
    assert 3 <= samples_for(budget_ms, sample_us) <= 40


@given(st.floats(0, 1e4), st.floats(0, 1e6), st.floats(0, 1e6))
def test_longer_samples_are_no_more(budget_ms: float, one_us: float, other_us: float) -> None:
    """Fewer samples of a longer launch fit in a budget."""
    short_us, long_us = sorted((one_us, other_us))
    assert samples_for(budget_ms, short_us) >= samples_for(budget_ms, long_us)


def test_samples_fill_the_budget() -> None:
    """Within the bounds the block takes its budget."""
    assert samples_for(7.0, 350.0) == 20


def test_a_quick_round_rests_nowhere() -> None:
    """One pass, no rests: it only shows that everything runs."""
    quick = Settings.quick()
    assert (quick.passes, quick.rest_ms, quick.heavy_rest_ms) == (1, 0.0, 0.0)


def test_long_prefill_is_heavy_and_decode_is_not() -> None:
    """Of the gate tier the compute-bound cases are prefill ones."""
    workloads = {parse(e.case.workload) for e in cases("gate")}
    heavy = [w for w in workloads if is_heavy(cost(w).intensity)]
    assert {w.phase for w in heavy} == {"prefill"}
    assert max(w.q_len for w in workloads) in {w.q_len for w in heavy}
