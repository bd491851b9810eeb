"""Inputs of workloads on the CPU."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.measure.inputs import Inputs, KvPool, pool_elements, torch_dtype
from workloads.kvlen import KvLengths
from workloads.shape import AttentionShape, DType
from workloads.workload import Phase, Workload

WORKLOADS = st.builds(
    lambda batch, extra, distribution, page, kv_heads: Workload(
        Phase.DECODE,
        AttentionShape(2 * kv_heads, kv_heads, 4, DType.FP32, DType.FP32, page),
        KvLengths(distribution, batch, 12 * batch + extra),
    ),
    batch=st.integers(3, 9),
    extra=st.integers(0, 50),
    distribution=st.sampled_from(["uniform", "skew40", "two40", "zipf.s1"]),
    page=st.sampled_from([1, 3, 16]),
    kv_heads=st.integers(1, 3),
)


def inputs_of(workload: Workload) -> Inputs:
    return Inputs(workload, KvPool("cpu", {workload.shape.kv_dtype: pool_elements(workload)}))


def workload(
    page: int = 16, dtype: DType = DType.FP32, kv_dtype: DType = DType.FP32, total: int = 100
) -> Workload:
    shape = AttentionShape(4, 2, 8, dtype, kv_dtype, page)
    return Workload(Phase.DECODE, shape, KvLengths("uniform", 3, total))


@given(WORKLOADS)
def test_the_page_table_covers_each_token_once(w: Workload) -> None:
    """Following the table gives each request its tokens, and no token to two of them."""
    paged, size = inputs_of(w).paged, w.shape.page_size
    seen: list[int] = []
    for request, length in enumerate(w.kv.lengths()):
        pages = paged.indices[paged.indptr[request] : paged.indptr[request + 1]].tolist()
        full, last = len(pages) - 1, int(paged.last_page_len[request])
        assert full * size + last == length
        assert 1 <= last <= size
        seen += [
            p * size + i for k, p in enumerate(pages) for i in range(last if k == full else size)
        ]
    assert len(set(seen)) == len(seen) == w.kv.total
    assert sorted(paged.indices.tolist()) == list(range(len(paged.k)))


@given(WORKLOADS)
def test_the_pool_is_as_large_as_its_largest_view(w: Workload) -> None:
    """The paged view uses all of it, the contiguous one no more."""
    inputs = inputs_of(w)
    elements = pool_elements(w)
    assert inputs.paged.k.numel() == inputs.paged.v.numel() == elements
    assert inputs.contiguous[0].numel() <= elements
    pages = sum(-(-n // w.shape.page_size) for n in w.kv.lengths())
    assert elements == pages * w.shape.page_size * w.shape.kv_heads * w.shape.head_dim


def test_views_share_memory() -> None:
    """Both layouts of all workloads look at one pool, K and V apart."""
    small, large = workload(total=50), workload(total=100)
    pool = KvPool("cpu", {DType.FP32: pool_elements(large)})
    views = [Inputs(w, pool) for w in (small, large)]
    for place in (0, 1):
        starts = {x.contiguous[place].data_ptr() for x in views}
        starts |= {(x.paged.k, x.paged.v)[place].data_ptr() for x in views}
        assert len(starts) == 1
    k, v = views[0].contiguous
    assert k.data_ptr() != v.data_ptr()
    assert not torch.equal(k, v)


def test_a_pool_too_small_is_an_error() -> None:
    """A workload larger than the pool was made for does not read beyond it."""
    inputs = Inputs(workload(total=200), KvPool("cpu", {DType.FP32: pool_elements(workload())}))
    with pytest.raises(RuntimeError):
        _ = inputs.contiguous


@pytest.mark.parametrize("kv_dtype", [DType.FP32, DType.BF16, DType.FP8])
def test_memory_is_random_in_every_type(kv_dtype: DType) -> None:
    """No zeros, no values that are not finite, mean near 0 and deviation near 1."""
    w = workload(dtype=DType.BF16, kv_dtype=kv_dtype, total=3000)
    for x in inputs_of(w).contiguous:
        assert x.dtype is torch_dtype(kv_dtype)
        values = x.float()
        assert bool(torch.isfinite(values).all())
        assert abs(float(values.mean())) < 0.05
        assert abs(float(values.std()) - 1) < 0.05


def test_rounds_measure_the_same_values() -> None:
    """Values come from fixed seeds: another process has the same inputs."""
    first, second = inputs_of(workload()), inputs_of(workload())
    assert torch.equal(first.q, second.q)
    assert torch.equal(first.paged.k, second.paged.k)
    assert torch.equal(first.paged.indices, second.paged.indices)


def test_pages_are_in_random_order() -> None:
    """As after long serving, neighbours in a sequence are none in memory."""
    indices = inputs_of(workload(page=1, total=300)).paged.indices
    assert int((indices.diff() == 1).sum()) < 10


def test_shapes_and_types() -> None:
    """Query, index tensors and output have the shapes that kernels are handed."""
    shape = AttentionShape(4, 2, 8, DType.BF16, DType.FP8, 16)
    w = Workload(Phase.PREFILL, shape, KvLengths("uniform", 3, 100), 5, causal=True)
    inputs = inputs_of(w)
    assert inputs.kv_lens == (34, 33, 33)
    assert inputs.q.shape == inputs.empty_output().shape == (15, 4, 8)
    assert inputs.q.dtype is inputs.empty_output().dtype is torch.bfloat16
    assert inputs.contiguous[0].shape == (100, 2, 8)
    assert inputs.paged.k.shape == (9, 16, 2, 8)
    assert inputs.paged.indptr.tolist() == inputs.paged.indptr_host.tolist() == [0, 3, 6, 9]
    assert inputs.paged.last_page_len.tolist() == inputs.paged.last_page_len_host.tolist()
    assert inputs.paged.last_page_len_host.tolist() == [2, 1, 1]
    assert inputs.cu_q.tolist() == inputs.cu_q_host.tolist() == [0, 5, 10, 15]
    assert inputs.cu_kv.tolist() == [0, 34, 67, 100]
    assert inputs.kv_lens_tensor.tolist() == [34, 33, 33]
    tables = (inputs.paged.indptr, inputs.paged.indices, inputs.cu_q, inputs.cu_kv)
    assert {x.dtype for x in tables} == {torch.int32}


def test_memory_larger_than_a_chunk_is_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Filling piece by piece leaves no piece out."""
    monkeypatch.setattr("benchmarks.measure.inputs._FILL_CHUNK", 1000)
    k, v = KvPool("cpu", {DType.FP32: 2001}).views(DType.FP32, 2001, 1, 1)
    assert int((k == 0).sum()) == int((v == 0).sum()) == 0
    assert not torch.equal(k[:1000], k[1000:2000])
