"""Batches, and the way from a backend's name to its planner."""

import pytest

from workloads.backend import BACKENDS
from workloads.devices import parse_device
from workloads.planner import Batch, plan, plan_batch
from workloads.shape import AttentionShape
from workloads.workload import parse

H200 = parse_device("h200")
SHAPE = AttentionShape(32, 8, page_size=256)


@pytest.mark.parametrize("name", [b.name for b in BACKENDS])
def test_every_backend_is_planned_or_says_that_nothing_is_known(name: str) -> None:
    """No backend is forgotten when one is added."""
    if name in {"sdpa", "scripted"}:
        with pytest.raises(ValueError, match=f"nothing is known of how {name} plans"):
            plan_batch(name, Batch((4096,), SHAPE), H200)
    else:
        assert plan_batch(name, Batch((4096,), SHAPE), H200).work_items >= 1


def test_a_workload_is_planned_as_its_lengths() -> None:
    """`plan` takes a distribution, `plan_batch` any lengths; equal lengths give equal plans."""
    workload = parse("prefill-h32x8-d128-bf16-p16-q64-b16-skew40-t65536")
    batch = Batch(workload.kv.lengths(), workload.shape, q_len=64, causal=True)
    name = "flashinfer-prefill-fa2"
    assert plan(name, workload, H200) == plan_batch(name, batch, H200)


def test_an_unknown_backend_is_refused() -> None:
    """The message says where all of them are listed."""
    with pytest.raises(ValueError, match=r"unknown backend 'fa4'.*list backends"):
        plan_batch("fa4", Batch((4096,), SHAPE), H200)


@pytest.mark.parametrize(
    ("lens", "q_len", "message"),
    [
        ((), 1, "at least 1 request"),
        ((5, 0), 1, "1 query tokens but a request of 0 KV tokens"),
        ((5, -1), 1, "a request of -1 KV tokens"),
        ((5, 4), 5, "5 query tokens but a request of 4 KV tokens"),
        ((5,), 0, "at least 1 query token, not 0"),
    ],
)
def test_impossible_batches_are_refused(lens: tuple[int, ...], q_len: int, message: str) -> None:
    """Empty, negative and too short requests get one clear line."""
    with pytest.raises(ValueError, match=message):
        Batch(lens, SHAPE, q_len)


@pytest.mark.parametrize("version", [None, "0.0.3", "sorted", "unsorted"])
def test_fa3_rules_are_chosen_by_release_or_name(version: str | None) -> None:
    """Every release of fa3-fwd sorts; the older rules have to be named."""
    made = plan_batch("fa3-varlen", Batch((4096,), SHAPE), H200, version=version)
    assert made.longest_first is (version != "unsorted")
