"""The reference against torch's own attention, in float32 on the CPU."""

import math
from itertools import accumulate, pairwise
from typing import Any

import pytest
import torch
import torch.nn.functional as f

from benchmarks.measure.inputs import Inputs, KvPool, pool_elements
from benchmarks.measure.reference import Reference
from workloads.backend import Layout
from workloads.kvlen import KvLengths
from workloads.shape import AttentionShape, DType
from workloads.workload import Phase, Workload

LAYOUTS = list(Layout)


def inputs_of(  # noqa: PLR0913 - what a workload is made of
    *,
    distribution: str = "uniform",
    batch: int = 5,
    total: int = 700,
    heads: tuple[int, int] = (8, 2),
    page: int = 16,
    q_len: int = 1,
    causal: bool = False,
    kv_dtype: DType = DType.FP32,
) -> Inputs:
    shape = AttentionShape(*heads, 16, DType.FP32, kv_dtype, page)
    phase = Phase.PREFILL if q_len > 1 else Phase.DECODE
    w = Workload(phase, shape, KvLengths(distribution, batch, total), q_len, causal=causal)
    return Inputs(w, KvPool("cpu", {kv_dtype: pool_elements(w)}))


def tokens_of(inputs: Inputs, layout: Layout, request: int) -> list[int]:
    """Places of a request's tokens in memory, one by one."""
    length = inputs.kv_lens[request]
    if layout is Layout.CONTIGUOUS:
        start = [0, *accumulate(inputs.kv_lens)][request]
        return list(range(start, start + length))
    paged, size = inputs.paged, inputs.workload.shape.page_size
    first = int(paged.indptr[request])
    return [int(paged.indices[first + t // size]) * size + t % size for t in range(length)]


def attention(inputs: Inputs, layout: Layout) -> Any:
    """torch's attention, a request at a time, with an explicit mask and repeated heads."""
    w = inputs.workload
    k, v = inputs.contiguous
    if layout is Layout.PAGED:
        k, v = inputs.paged.k.flatten(0, 1), inputs.paged.v.flatten(0, 1)
    outputs = []
    for request, (first, last) in enumerate(pairwise(inputs.cu_q_host.tolist())):
        places = tokens_of(inputs, layout, request)
        q = inputs.q[first:last].transpose(0, 1)
        keys, values = (
            x[places].float().repeat_interleave(w.shape.group, 1).transpose(0, 1) for x in (k, v)
        )
        # The query's tokens are the last ones of the sequence.
        age = torch.arange(w.q_len)[:, None] + len(places) - w.q_len
        mask = torch.arange(len(places)) <= age if w.causal else None
        outputs.append(f.scaled_dot_product_attention(q, keys, values, mask).transpose(0, 1))
    return torch.cat(outputs)


CASES = [
    {},
    {"distribution": "skew60"},
    {"distribution": "two40", "total": 1000},
    {"distribution": "lognormal.s1"},
    {"page": 1},
    {"page": 7, "distribution": "skew40"},
    {"heads": (4, 4)},
    {"heads": (8, 1)},
    {"heads": (3, 1), "distribution": "skew40"},
    {"batch": 1, "total": 333},
    {"q_len": 16, "causal": True},
    {"q_len": 7, "causal": True, "distribution": "skew60", "page": 1},
    {"q_len": 40, "causal": True, "batch": 2, "total": 80},
    {"q_len": 9},
    {"q_len": 33, "causal": True, "heads": (8, 8), "distribution": "skew40"},
    {"batch": 40, "total": 4000, "distribution": "zipf.s1"},
    {"kv_dtype": DType.FP8},
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_torch_s_attention(case: dict[str, Any], layout: Layout) -> None:
    """For every shape, distribution and layout torch's output is right within rounding."""
    inputs = inputs_of(**case)
    assert Reference(inputs, layout).error(attention(inputs, layout)) < 1e-5


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_wrong_output_is_seen(layout: Layout) -> None:
    """Twice the output is an error of 1; none at all is one too."""
    inputs = inputs_of()
    right, reference = attention(inputs, layout), Reference(inputs, layout)
    assert reference.error(2 * right) == pytest.approx(1.0)
    assert reference.error(torch.zeros_like(right)) == pytest.approx(1.0)
    assert reference.error(1.01 * right) == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_nan_anywhere_is_seen(value: float) -> None:
    """A single element that is not finite is enough, in rows that are not compared too."""
    inputs = inputs_of(q_len=40, causal=True, batch=2, total=100)
    right = attention(inputs, Layout.CONTIGUOUS)
    reference = Reference(inputs, Layout.CONTIGUOUS)
    unchecked = sorted(set(range(len(right))) - set(reference._rows.tolist()))
    assert unchecked
    for row in (0, unchecked[0], len(right) - 1):
        broken = right.clone()
        broken[row, -1, -1] = value
        assert math.isnan(reference.error(broken))


@pytest.mark.parametrize("page", [1, 16])
def test_the_page_table_matters(page: int) -> None:
    """A kernel that took pages in their order in memory would be wrong."""
    inputs = inputs_of(page=page, total=800)
    right = attention(inputs, Layout.PAGED)
    reference = Reference(inputs, Layout.PAGED)
    assert reference.error(right) < 1e-5
    paged = inputs.paged
    paged.indices.copy_(torch.arange(len(paged.indices)))
    assert reference.error(attention(inputs, Layout.PAGED)) > 0.5


def test_one_token_more_or_less_is_seen() -> None:
    """A kernel that is off by one at the end of a sequence is beyond every tolerance."""
    inputs = inputs_of(batch=2, total=200)
    reference = Reference(inputs, Layout.CONTIGUOUS)
    inputs.kv_lens = tuple(n - 1 for n in inputs.kv_lens)
    assert reference.error(attention(inputs, Layout.CONTIGUOUS)) > 0.02


def test_the_causal_mask_matters() -> None:
    """A kernel that forgot the mask would be wrong."""
    masked = inputs_of(q_len=30, causal=True, batch=2, total=60)
    unmasked = Inputs(inputs_of(q_len=30, batch=2, total=60).workload, masked._pool)
    reference = Reference(masked, Layout.CONTIGUOUS)
    assert reference.error(attention(unmasked, Layout.CONTIGUOUS)) > 0.1


def test_the_longest_requests_are_always_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not all can be afforded, those most likely to be split are among the checked."""
    monkeypatch.setattr("benchmarks.measure.reference._TOKEN_BUDGET", 2000)
    inputs = inputs_of(distribution="two40", batch=64, total=1 << 15)
    assert sorted(inputs.kv_lens)[-2:] == list(inputs.kv_lens[:2])
    reference = Reference(inputs, Layout.CONTIGUOUS)
    assert {0, 1} <= set(reference._rows.tolist()) < set(range(64))


def test_large_batches_are_checked_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget of tokens bounds the reference; first, last and spread requests are in it."""
    monkeypatch.setattr("benchmarks.measure.reference._TOKEN_BUDGET", 1000)
    inputs = inputs_of(batch=50, total=5000)
    reference = Reference(inputs, Layout.CONTIGUOUS)
    rows = reference._rows.tolist()
    assert 4 <= len(rows) <= 12
    assert {0, 1, 49} <= set(rows)
    assert reference.error(attention(inputs, Layout.CONTIGUOUS)) < 1e-5


def test_groups_that_must_fit_in_memory_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Computed in many small groups the answer is the same."""
    monkeypatch.setattr("benchmarks.measure.reference._GATHER_ELEMENTS", 1)
    inputs = inputs_of(distribution="skew60", q_len=5, causal=True)
    assert Reference(inputs, Layout.PAGED).error(attention(inputs, Layout.PAGED)) < 1e-5


def test_an_output_may_have_the_batch_apart() -> None:
    """A kernel may return (batch, query tokens, heads, dim)."""
    inputs = inputs_of(q_len=4, causal=True)
    output = attention(inputs, Layout.CONTIGUOUS).view(5, 4, 8, 16)
    assert Reference(inputs, Layout.CONTIGUOUS).error(output) < 1e-5
