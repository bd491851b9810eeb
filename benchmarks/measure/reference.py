"""The answer to compare with: plain softmax attention in float32.

It is computed for the longest requests and for others spread evenly, up to a budget of tokens,
and for some query rows of each: enough to see a wrong kernel, cheap enough for every round.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from benchmarks.measure.inputs import Inputs
from workloads.backend import Layout

__all__ = ["Reference"]

_TOKEN_BUDGET: Final = 1 << 19
_ROWS_PER_REQUEST: Final = 16
_GATHER_ELEMENTS: Final = 1 << 28


class Reference:
    """Float32 attention of some query rows of one workload in one KV layout.

    Parameters
    ----------
    inputs
        The workload's tensors.
    layout
        Which of its KV caches to read.
    """

    def __init__(self, inputs: Inputs, layout: Layout) -> None:
        import torch

        self._inputs, self._layout = inputs, layout
        parts = [self._attend(group) for group in _groups(inputs)]
        self._rows = torch.cat([rows for rows, _ in parts])
        self._out = torch.cat([out for _, out in parts])

    def error(self, output: Any) -> float:
        """Return ‖output - reference‖ / ‖reference‖ over the reference's rows, or NaN.

        NaN if any element of the whole output, not only of these rows, is not finite.

        Parameters
        ----------
        output
            Shape (batch · q_len, query heads, head dim).
        """
        import torch

        if not bool(torch.isfinite(output).all()):
            return float("nan")
        got = output.reshape(self._inputs.q.shape)[self._rows].float()
        return float((got - self._out).norm() / self._out.norm())

    def _attend(self, requests: Sequence[int]) -> tuple[Any, Any]:
        """Return rows (n·r,) and their attention (n·r, query heads, head dim), for n requests."""
        import torch

        w, s, device = self._inputs.workload, self._inputs.workload.shape, self._inputs.device
        lengths = torch.tensor([self._inputs.kv_lens[i] for i in requests], device=device)
        places = torch.arange(int(lengths.max()), device=device)
        k, v = (self._gather(x, requests, places) for x in self._memory())
        offsets = torch.tensor(_spread(w.q_len, _ROWS_PER_REQUEST), device=device)
        rows = torch.tensor(requests, device=device)[:, None] * w.q_len + offsets
        q = self._inputs.q[rows].float()
        q = q.view(len(requests), len(offsets), s.kv_heads, s.group, s.head_dim)
        scores = torch.einsum("nrhgd,nlhd->nrhgl", q, k) * s.head_dim**-0.5
        last = lengths[:, None] - 1
        last = last - (w.q_len - 1 - offsets) if w.causal else last.expand(-1, len(offsets))
        hidden = places > last[:, :, None]
        scores.masked_fill_(hidden[:, :, None, None, :], float("-inf"))
        out = torch.einsum("nrhgl,nlhd->nrhgd", scores.softmax(-1), v)
        return rows.flatten(), out.reshape(-1, s.q_heads, s.head_dim)

    def _memory(self) -> tuple[Any, Any]:
        if self._layout is Layout.CONTIGUOUS:
            return self._inputs.contiguous
        return self._inputs.paged.k.flatten(0, 1), self._inputs.paged.v.flatten(0, 1)

    def _gather(self, memory: Any, requests: Sequence[int], places: Any) -> Any:
        """Return KV of these requests, padded: (requests, places, KV heads, head dim)."""
        import torch

        index = torch.tensor(requests, device=memory.device)
        if self._layout is Layout.CONTIGUOUS:
            tokens = self._inputs.cu_kv.long()[index, None] + places
        else:
            paged, size = self._inputs.paged, self._inputs.workload.shape.page_size
            slot = paged.indptr.long()[index, None] + places // size
            slot = slot.clamp_(max=len(paged.indices) - 1)
            tokens = paged.indices.long()[slot] * size + places % size
        return memory[tokens.clamp_(max=len(memory) - 1)].float()


def _groups(inputs: Inputs) -> Iterator[list[int]]:
    """Yield requests to check, longest first, in groups of like length that fit in memory."""
    kv_lens = inputs.kv_lens
    token_elements = inputs.workload.shape.kv_heads * inputs.workload.shape.head_dim
    group: list[int] = []
    for request in _chosen(kv_lens):
        if group:
            longest = kv_lens[group[0]]
            full = (len(group) + 1) * longest * token_elements > _GATHER_ELEMENTS
            if full or 2 * kv_lens[request] < longest:
                yield group
                group = []
        group.append(request)
    yield group


def _chosen(kv_lens: Sequence[int]) -> list[int]:
    """Return the two longest requests and evenly spread others, longest first."""
    order = sorted(range(len(kv_lens)), key=lambda i: -kv_lens[i])
    affordable = max(_TOKEN_BUDGET * len(kv_lens) // sum(kv_lens), 4)
    return [order[i] for i in sorted({0, min(1, len(order) - 1), *_spread(len(order), affordable)})]


def _spread(count: int, most: int) -> list[int]:
    """Return up to `most` places in range(count), first and last included."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})
