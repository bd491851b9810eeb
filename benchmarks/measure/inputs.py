"""Random inputs of a workload, as views into KV memory that all cases share.

Memory is filled once with random values, never zeros: a GPU runs faster on zeros. Each workload
views as much of it as it needs, so a whole round needs the memory of its largest case.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Final

from workloads.shape import DType
from workloads.workload import Workload

__all__ = ["Inputs", "KvPool", "PagedKv", "pool_elements"]

_SEED: Final = 20_260_108
_FILL_CHUNK: Final = 1 << 28


def torch_dtype(dtype: DType) -> Any:
    """Return torch's type of this name."""
    import torch

    names = {
        DType.BF16: torch.bfloat16,
        DType.FP8: torch.float8_e4m3fn,
        DType.FP32: torch.float32,
    }
    return names[dtype]


def pool_elements(workload: Workload) -> int:
    """Elements of K (as many again of V) that a workload views, page padding included."""
    shape = workload.shape
    tokens = sum(-(-n // shape.page_size) for n in workload.kv.lengths()) * shape.page_size
    return tokens * shape.kv_heads * shape.head_dim


class KvPool:
    """Flat random K and V memory of one device, one pair for each data type.

    Parameters
    ----------
    device
        `cuda` or `cpu`.
    elements
        Elements of K to hold for each data type; V has as many.
    """

    def __init__(self, device: str, elements: dict[DType, int]) -> None:
        self.device = device
        self._pairs = {
            dtype: (_random(device, dtype, n, _SEED), _random(device, dtype, n, _SEED + 1))
            for dtype, n in elements.items()
        }

    def views(self, dtype: DType, tokens: int, heads: int, head_dim: int) -> tuple[Any, Any]:
        """Return K and V, each of shape (tokens, heads, head_dim)."""
        k, v = self._pairs[dtype]
        n = tokens * heads * head_dim
        return k[:n].view(tokens, heads, head_dim), v[:n].view(tokens, heads, head_dim)


def _random(device: str, dtype: DType, elements: int, seed: int) -> Any:
    import torch

    generator = torch.Generator(device).manual_seed(seed)
    pool = torch.empty(elements, dtype=torch_dtype(dtype), device=device)
    for start in range(0, elements, _FILL_CHUNK):
        part = pool[start : start + _FILL_CHUNK]
        part.copy_(torch.randn(part.shape, generator=generator, device=device))
    return pool


@dataclass(frozen=True, slots=True)
class PagedKv:
    """KV cache in pages, in random order as after long serving.

    Attributes
    ----------
    k, v
        Shape (pages, page size, KV heads, head dim).
    indptr, indices, last_page_len
        FlashInfer's page table: int32, shapes (batch + 1), (pages), (batch).
    indptr_host, last_page_len_host
        The same on the host, where plan() reads them.
    """

    k: Any
    v: Any
    indptr: Any
    indices: Any
    last_page_len: Any
    indptr_host: Any
    last_page_len_host: Any


class Inputs:
    """Query, KV cache and index tensors of one workload.

    Parameters
    ----------
    workload
        What to build.
    pool
        Memory to view.
    """

    def __init__(self, workload: Workload, pool: KvPool) -> None:
        self.workload = workload
        self.device = pool.device
        self.kv_lens = workload.kv.lengths()
        self._pool = pool

    @cached_property
    def q(self) -> Any:
        """Query, shape (batch · q_len, query heads, head dim)."""
        import torch

        w = self.workload
        generator = torch.Generator(self.device).manual_seed(_SEED + 2)
        size = (w.kv.batch * w.q_len, w.shape.q_heads, w.shape.head_dim)
        values = torch.randn(size, generator=generator, device=self.device)
        return values.to(torch_dtype(w.shape.dtype))

    @cached_property
    def contiguous(self) -> tuple[Any, Any]:
        """K and V of all requests one after another, each (tokens, KV heads, head dim)."""
        s = self.workload.shape
        return self._pool.views(s.kv_dtype, sum(self.kv_lens), s.kv_heads, s.head_dim)

    @cached_property
    def paged(self) -> PagedKv:
        """K and V in pages of the shape's page size."""
        import torch

        s = self.workload.shape
        pages = [-(-n // s.page_size) for n in self.kv_lens]
        total = sum(pages)
        k, v = self._pool.views(s.kv_dtype, total * s.page_size, s.kv_heads, s.head_dim)
        size = (total, s.page_size, s.kv_heads, s.head_dim)
        generator = torch.Generator().manual_seed(_SEED + 3)
        indptr = _int32([0, *accumulate(pages)])
        last = _int32([(n - 1) % s.page_size + 1 for n in self.kv_lens])
        return PagedKv(
            k.view(size),
            v.view(size),
            indptr.to(self.device),
            torch.randperm(total, generator=generator).to(torch.int32).to(self.device),
            last.to(self.device),
            indptr,
            last,
        )

    @cached_property
    def cu_kv(self) -> Any:
        """Running sum of KV lengths, int32, shape (batch + 1)."""
        return _int32([0, *accumulate(self.kv_lens)]).to(self.device)

    @cached_property
    def cu_q_host(self) -> Any:
        """Running sum of query lengths on the host, int32, shape (batch + 1)."""
        return _int32([i * self.workload.q_len for i in range(len(self.kv_lens) + 1)])

    @cached_property
    def cu_q(self) -> Any:
        """Running sum of query lengths, int32, shape (batch + 1)."""
        return self.cu_q_host.to(self.device)

    @cached_property
    def kv_lens_tensor(self) -> Any:
        """KV lengths, int32, shape (batch)."""
        return _int32(self.kv_lens).to(self.device)

    def empty_output(self) -> Any:
        """Return memory for an output, shape and type of the query."""
        return self.q.new_empty(self.q.shape)


def _int32(values: Sequence[int]) -> Any:
    import torch

    return torch.tensor(values, dtype=torch.int32)
