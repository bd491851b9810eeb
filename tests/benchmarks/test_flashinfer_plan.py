"""Reading plans from made-up wrappers, laid out as FlashInfer's releases lay them out."""

import struct
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from benchmarks.backends.flashinfer_plan import plan_facts, workspace_bytes
from workloads.record import Facts

LENGTHS = (1000, 300, 64)


def pinned(chunk: int, offset: int, size: int = 256) -> Any:
    """The pinned workspace with the chunk length at its place; other bytes are noise."""
    memory = bytearray(b"\xab" * size)
    memory[offset : offset + 4] = struct.pack("<i", chunk)
    return torch.frombuffer(memory, dtype=torch.uint8)


def decode(chunk: int, offset: int = 96) -> Any:
    """A CUDA-core wrapper: 10 fields, the batch first, the chunk's offset eighth."""
    info = [12, 0, 0, 0, 0, 0, 0, offset, 1, 1]
    return SimpleNamespace(_plan_info=info, _pin_memory_int_workspace_buffer=pinned(chunk, offset))


def prefill(chunk: int, offset: int = 128) -> Any:
    """An fa2 wrapper: 15 fields, the batch first, q tile fourth, the chunk's offset tenth."""
    info = [34, 0, 0, 16, 0, 0, 0, 0, 0, offset, 0, 0, 0, 1, 1]
    return SimpleNamespace(_plan_info=info, _pin_memory_int_workspace_buffer=pinned(chunk, offset))


def test_cuda_core_decode() -> None:
    """Chunks are counted from the chunk length and the requests' lengths."""
    assert plan_facts(decode(256), None, LENGTHS) == Facts(
        splits_kv=True, chunk_tokens=256, padded_batch=12, max_splits=4, work_items=4 + 2 + 1
    )


def test_fa2() -> None:
    """The tensor-core plan has a query tile too."""
    assert plan_facts(prefill(512), "fa2", LENGTHS) == Facts(
        resolved_backend="fa2",
        splits_kv=True,
        chunk_tokens=512,
        padded_batch=34,
        q_tile=16,
        max_splits=2,
        work_items=4,
    )


def test_fa3_never_splits() -> None:
    """The SM90 plan of 9 fields has no chunks."""
    wrapper = SimpleNamespace(_plan_info=[1] * 9)
    assert plan_facts(wrapper, "fa3", LENGTHS) == Facts(resolved_backend="fa3", splits_kv=False)


@pytest.mark.parametrize("chunk", [1 << 30, 2_147_483_647])
def test_a_huge_chunk_is_no_chunk(chunk: int) -> None:
    """Splitting switched off is a chunk that no request reaches."""
    facts = plan_facts(prefill(chunk), "fa2", LENGTHS)
    assert (facts.chunk_tokens, facts.splits_kv, facts.max_splits) == (None, False, 1)
    assert facts.work_items == len(LENGTHS)


def test_a_chunk_of_the_longest_request_splits_nothing() -> None:
    """A request is split only if it is longer than the chunk."""
    assert plan_facts(decode(1000), None, LENGTHS).splits_kv is False
    assert plan_facts(decode(999), None, LENGTHS).splits_kv is True


class Array:
    """As tvm-ffi's array: its elements convert to int, it is no list."""

    def __init__(self, values: list[int]) -> None:
        self._values = values

    def __iter__(self) -> Iterator[Any]:
        return iter([torch.tensor(value) for value in self._values])


def test_any_kind_of_sequence_is_read() -> None:
    """Releases return a list, a tensor or an array of their own."""
    wrapper = prefill(512)
    for kind in (tuple, torch.tensor, Array):
        other = SimpleNamespace(**{**vars(wrapper), "_plan_info": kind(wrapper._plan_info)})
        assert plan_facts(other, "fa2", LENGTHS) == plan_facts(wrapper, "fa2", LENGTHS)


@pytest.mark.parametrize("info", [None, [], [1] * 11, object()])
def test_an_unknown_layout_gives_no_facts(info: Any) -> None:
    """A plan that does not look as expected is unknown, not guessed."""
    assert plan_facts(SimpleNamespace(_plan_info=info), None, LENGTHS) == Facts()


def test_a_wrapper_without_a_plan_gives_no_facts() -> None:
    """A release that keeps its plan elsewhere is no error."""
    assert plan_facts(SimpleNamespace(), "fa2", LENGTHS) == Facts(resolved_backend="fa2")


@pytest.mark.parametrize(
    "buffer",
    [
        None,
        torch.zeros(8, dtype=torch.uint8),
        torch.full((256,), 7, dtype=torch.int32),
        pinned(0, 96),
        pinned(-5, 96),
    ],
)
def test_a_chunk_that_cannot_be_read_is_unknown(buffer: Any) -> None:
    """No buffer, one that ends before, one of other elements, or no chunk in it."""
    wrapper = SimpleNamespace(
        _plan_info=decode(256)._plan_info, _pin_memory_int_workspace_buffer=buffer
    )
    assert plan_facts(wrapper, None, LENGTHS) == Facts(padded_batch=12)


@pytest.mark.parametrize("offset", [-4, 94, 253, 10_000])
def test_an_offset_that_cannot_be_is_unknown(offset: int) -> None:
    """An offset that is no int32's place is no reason to fail the case."""
    wrapper = decode(256)
    wrapper._plan_info[7] = offset
    assert plan_facts(wrapper, None, LENGTHS) == Facts(padded_batch=12)


def test_the_workspace_s_size() -> None:
    """The integer workspace in bytes; unknown if the wrapper has none."""
    wrapper = SimpleNamespace(_int_workspace_buffer=torch.zeros(10, dtype=torch.int32))
    assert workspace_bytes(wrapper) == 40
    assert workspace_bytes(SimpleNamespace()) is None
