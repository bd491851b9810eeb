"""Which rounds a backfill measures next."""

import random
from collections import Counter
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.backfill import GROUP, Wanted, by_priority, count_rounds, next_group
from benchmarks.rounds import QUICK
from tests.benchmarks.synthetic import measured, stack, synthetic_round
from workloads.record import Case, CaseRecord, Status

RELEASES = (
    "v0.5.0",
    "v0.5.1",
    "v0.5.3",
    "v0.6.0",
    "v0.6.1",
    "v0.6.4",
    "v0.6.18",
    "v0.7.0",
    "v0.7.4",
)
CASES = (Case("w1", "b"), Case("w2", "b"))
RECORDS = tuple(measured(case, 10.0) for case in CASES)
PLENTY = 10_000


def group(wanted: Wanted, done: Counter[str], *lost: str, capacity: int = PLENTY) -> set[str]:
    draws = random.Random(1)  # noqa: S311 - an order, not a secret
    found = next_group(wanted, done, lost, capacity, draws)
    assert len(set(found)) == len(found)
    return set(found)


def test_ends_and_boundaries_come_first() -> None:
    """Newest, oldest, the first of a series and the last before it; then the widest gaps."""
    order = by_priority(RELEASES)
    assert order[:6] == ("v0.7.4", "v0.5.0", "v0.6.0", "v0.5.3", "v0.7.0", "v0.6.18")
    assert order[6] == "v0.6.1"


def test_what_is_no_release_comes_last() -> None:
    """Stacks named otherwise, as those of another library, are no part of the series."""
    assert by_priority(("other-1", "v1.0", "other-2", "v2.0")) == (
        "v2.0",
        "v1.0",
        "other-2",
        "other-1",
    )


@given(st.lists(st.integers(0, 40), unique=True).map(sorted))
def test_every_stack_has_one_place(numbers: list[int]) -> None:
    """No tag is lost or doubled, and one before the newest never comes first."""
    tags = [f"v0.{number // 10}.{number % 10}" for number in numbers]
    order = by_priority(tags)
    assert sorted(order) == sorted(tags)
    assert order[:1] == tuple(tags[-1:])


def test_only_whole_rounds_of_the_same_pins_count() -> None:
    """Trials, other pins or protocols, unknown stacks, fewer cases, or no time at all do not."""
    v1 = stack("v1")
    failed = (RECORDS[0], CaseRecord(CASES[1], Status.FAILED, "raised"))
    rounds = [
        synthetic_round(v1, RECORDS),
        synthetic_round(v1, failed),
        synthetic_round(v1, (*RECORDS, measured(Case("w3", "b"), 1.0))),
        synthetic_round(v1, RECORDS[:1]),
        synthetic_round(v1, tuple(CaseRecord(case, Status.SKIPPED, "no GPU") for case in CASES)),
        synthetic_round(v1, RECORDS, warnings=(QUICK,)),
        synthetic_round(v1, RECORDS, protocol=2),
        synthetic_round(replace(v1, pins={"flashinfer-python": "2"}), RECORDS),
        synthetic_round(stack("v9"), RECORDS),
    ]
    assert count_rounds(rounds, {"v1": v1, "v2": stack("v2")}, CASES) == {"v1": 3}


def test_every_group_has_the_reference_and_those_with_fewest_rounds() -> None:
    """All stacks get on together, so that a budget that ends leaves no stack far behind."""
    tags = tuple(f"v0.1.{number}" for number in range(20))
    wanted = Wanted(tags, 3, "ref")
    done: Counter[str] = Counter()
    for _ in range(9):
        found = group(wanted, done)
        assert "ref" in found
        assert len(found) <= GROUP + 1
        done.update(found)
    counts = [done[tag] for tag in tags]
    assert max(counts) - min(counts) <= 1


def test_it_ends_when_all_is_done() -> None:
    """Stacks that have their rounds, or cannot run, are not asked for; nor the reference alone."""
    wanted = Wanted(("a", "b"), 2, "ref")
    assert group(wanted, Counter(a=2, ref=2), "b") == set()
    assert group(wanted, Counter(a=2, ref=2)) == {"b", "ref"}
    assert group(wanted, Counter(a=2, b=2)) == {"ref"}


def test_a_reference_that_cannot_run_is_left_out() -> None:
    """The others are measured without it."""
    assert group(Wanted(("a", "b"), 2, "ref"), Counter(), "ref") == {"a", "b"}


@pytest.mark.parametrize(
    ("capacity", "expected"), [(1, {"a"}), (7, {"a", "b"}), (14, {"a", "b", "c", "d"})]
)
def test_a_small_budget_goes_to_the_most_urgent(capacity: int, expected: set[str]) -> None:
    """Only so many stacks are taken up as can be completed, the reference's share included."""
    wanted = Wanted(("a", "b", "c", "d"), 3, "ref")
    assert group(wanted, Counter(), capacity=capacity) - {"ref"} == expected


def test_the_order_is_random() -> None:
    """Neither a stack nor the reference has a fixed place in its group."""
    wanted = Wanted(("a", "b", "c"), 1, "ref")
    draws = random.Random(1)  # noqa: S311 - an order, not a secret
    orders = {next_group(wanted, Counter(), (), PLENTY, draws) for _ in range(400)}
    assert len(orders) == 24


def test_records_may_say_what_was_derived() -> None:
    """A round tells which wheel was slimmed; one from originals has no such field."""
    plain = synthetic_round(stack("v1"), RECORDS)
    assert b"derived" not in msgspec.json.encode(plain)
    slim = msgspec.structs.replace(plain.stack, derived={"a.whl": "b" * 64})
    assert msgspec.json.decode(msgspec.json.encode(slim), type=type(slim)) == slim
