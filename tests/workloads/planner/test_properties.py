"""What holds for every plan, whatever the batch."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.backend import BACKENDS
from workloads.devices import DEVICES, Device, parse_device
from workloads.planner import Batch, Plan, plan_batch
from workloads.planner.flashinfer_fa2 import fa2_budget
from workloads.planner.occupancy import known_occupancy
from workloads.planner.search import minimum_pages
from workloads.shape import AttentionShape

H200 = parse_device("h200")
SEARCHED = (
    "flashinfer-decode-cuda",
    "flashinfer-decode-cuda-serving",
    "flashinfer-decode-tc-fa2",
    "flashinfer-decode-tc-fa2-serving",
    "flashinfer-prefill-fa2",
)
MODELLED = tuple(
    b.name
    for b in BACKENDS
    if b.library in {"flashinfer-python", "fa3-fwd"} and not b.name.startswith("flashinfer-decode")
)


@st.composite
def batches(draw: st.DrawFn, *, decode: bool = True) -> Batch:
    kv_heads = draw(st.sampled_from([1, 2, 4, 8, 32]))
    group = draw(st.sampled_from([1, 2, 4, 8]))
    page = draw(st.sampled_from([1, 16, 64, 256]))
    shape = AttentionShape(kv_heads * group, kv_heads, page_size=page)
    long, short = st.integers(1, 200_000), st.integers(1, 2000)
    lens = draw(st.lists(st.one_of(long, short), min_size=1, max_size=150))
    if decode:
        return Batch(tuple(lens), shape)
    q_len = draw(st.integers(1, 700))
    return Batch(tuple(n + q_len for n in lens), shape, q_len, causal=draw(st.booleans()))


def _visible(batch: Batch, plan: Plan) -> int:
    """KV tokens that a head's query tiles see, counted one query token at a time."""
    rows = np.arange(batch.q_len * plan.rows_per_token)
    row_token = rows // plan.rows_per_token
    last_token = [int(row_token[rows // plan.q_tile == t].max()) for t in range(plan.q_tiles)]
    hidden = [batch.q_len - 1 - token if batch.causal else 0 for token in last_token]
    return sum(n - h for n in batch.kv_lens for h in hidden)


def _check_items(batch: Batch, plan: Plan) -> None:
    items = plan.items()
    assert len(items.request) == plan.work_items * plan.q_tiles
    assert items.kv_tokens.min() >= 0
    assert int(items.kv_tokens.sum()) == _visible(batch, plan)
    ends = items.kv_begin + items.kv_tokens
    assert (ends <= batch.tokens()[items.request]).all()


@pytest.mark.parametrize("name", [n for n in SEARCHED if "decode" in n] + ["fa3-varlen"])
@given(batch=batches())
def test_chunks_of_a_decode_batch_hold_each_token_once(name: str, batch: Batch) -> None:
    """Tokens are conserved over chunks, and each request has at least one."""
    plan = plan_batch(name, batch, H200)
    assert len(plan.splits) == len(batch.kv_lens)
    assert min(plan.splits) >= 1
    _check_items(batch, plan)
    items = plan.items()
    for request, tokens in enumerate(batch.kv_lens):
        mine = items.request == request
        begins, sizes = items.kv_begin[mine], items.kv_tokens[mine]
        assert [0, *np.cumsum(sizes)[:-1]] == begins.tolist()
        assert int(sizes.sum()) == tokens


@pytest.mark.parametrize("name", MODELLED)
@given(batch=batches(decode=False))
def test_query_tiles_read_exactly_what_they_see(name: str, batch: Batch) -> None:
    """With or without a causal mask, each query tile reads the tokens its last row sees."""
    _check_items(batch, plan_batch(name, batch, H200))


@given(batch=batches(decode=False))
def test_flash_attention_2_reads_exactly_what_its_tiles_see(batch: Batch) -> None:
    """One split count for all leaves short requests with empty chunks, and loses no token."""
    plan = plan_batch("flash-attn-paged", _in_pages_of_256(batch), H200)
    assert len(set(plan.splits)) == 1
    _check_items(plan.batch, plan)


def _in_pages_of_256(batch: Batch) -> Batch:
    return replace(batch, shape=replace(batch.shape, page_size=256))


@pytest.mark.parametrize("name", SEARCHED)
@given(batch=batches())
def test_flashinfer_takes_the_smallest_chunk_that_fits(name: str, batch: Batch) -> None:
    """One page less would be under the minimum, or more work items than the budget."""
    plan, page = plan_batch(name, batch, H200), batch.shape.page_size
    assert plan.chunk_tokens is not None
    chunk, least = plan.chunk_tokens // page, minimum_pages(page)
    pages = [-(-n // page) for n in batch.kv_lens]
    budget = _budget(name, batch)
    if plan.splits_kv:
        assert chunk >= least
        assert plan.work_items * plan.q_tiles <= budget
    if chunk > least:
        assert sum(-(-n // (chunk - 1)) for n in pages) * plan.q_tiles > budget or (
            len(pages) * plan.q_tiles >= budget
        )


def _budget(name: str, batch: Batch) -> int:
    if "cuda" in name:
        occupancy = known_occupancy(batch.shape, H200)
        assert occupancy is not None
        return occupancy * H200.sms // batch.shape.kv_heads
    return fa2_budget(batch.shape.kv_heads, H200)


@pytest.mark.parametrize("name", SEARCHED)
@given(batch=batches(), more=st.integers(1, 200))
def test_more_sms_never_mean_fewer_splits(name: str, batch: Batch, more: int) -> None:
    """FlashInfer's chunks only get shorter on a bigger GPU of the same kind."""
    bigger = replace(H200, sms=H200.sms + more)
    small, big = (plan_batch(name, batch, device) for device in (H200, bigger))
    assert all(a <= b for a, b in zip(small.splits, big.splits, strict=True))


@pytest.mark.parametrize("path", ["cuda", "tc-fa2"])
@given(batch=batches())
def test_serving_pads_the_grid_and_keeps_the_splits(path: str, batch: Batch) -> None:
    """Padding costs CTAs without work; the chunks of a decode batch are those of an eager plan."""
    eager = plan_batch(f"flashinfer-decode-{path}", batch, H200)
    serving = plan_batch(f"flashinfer-decode-{path}-serving", batch, H200)
    assert serving.splits == eager.splits
    assert eager.padded_batch is not None
    assert serving.padded_batch is not None
    assert serving.padded_batch >= eager.padded_batch == eager.work_items


@given(batch=batches(), device=st.sampled_from([d for d in DEVICES if d.hopper]))
def test_fa3_splits_a_longer_request_at_least_as_much(batch: Batch, device: Device) -> None:
    """Equal requests get equal splits, longer ones never fewer."""
    plan = plan_batch("fa3-varlen", batch, device)
    by_length = sorted(zip(batch.kv_lens, plan.splits, strict=True))
    assert [splits for _, splits in by_length] == sorted(plan.splits)


@pytest.mark.parametrize("name", ["flashinfer-decode-cuda", "flashinfer-decode-tc-fa2"])
@given(batch=batches(), random=st.randoms(use_true_random=False))
def test_the_order_of_requests_changes_no_splits(name: str, batch: Batch, random: Random) -> None:
    """A plan depends on which lengths there are, not on where they stand."""
    order = list(range(len(batch.kv_lens)))
    random.shuffle(order)
    shuffled = replace(batch, kv_lens=tuple(batch.kv_lens[i] for i in order))
    splits = plan_batch(name, batch, H200).splits
    assert plan_batch(name, shuffled, H200).splits == tuple(splits[i] for i in order)
