"""The adapter of FlashAttention-3 calls it as a backend's name says."""

from typing import Any

import pytest
import torch

from benchmarks.backends import ADAPTERS, fa3
from tests.benchmarks.fakes import EVEN, inputs_of, install, libraries
from workloads.backend import kvcache_name
from workloads.record import Facts


def install_fa3(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """Install a made-up FA3; return the calls of each of its functions."""
    calls: dict[str, list[Any]] = {}

    def function(name: str, answer: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            calls.setdefault(name, []).append((args, kwargs))
            return answer

        return call

    install(
        monkeypatch,
        "fa3_fwd_interface",
        flash_attn_varlen_func=function("varlen", "output"),
        flash_attn_with_kvcache=function("kvcache", ("output", "lse")),
        _flash_attn_forward=function("forward", ("output", "lse")),
        get_scheduler_metadata=function("metadata", torch.tensor([3, 1, 1, 2, 99, 99])),
    )
    return calls


@pytest.mark.parametrize("name", fa3.NAMES)
def test_fa3_is_called_as_the_name_says(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Splits and packing go where the backend's name says; the first element is the output."""
    calls = install_fa3(monkeypatch)
    inputs = inputs_of(EVEN)
    prepared = ADAPTERS[name](name, inputs, libraries())
    assert prepared.launch() == "output"
    used = "varlen" if "varlen" in name else "kvcache"
    ((args, kwargs),) = calls["forward" if name == "fa3-varlen-metadata" else used]
    assert args[0].data_ptr() == inputs.q.data_ptr()
    assert kwargs["num_splits"] == {"1": 1, "2": 2, "4": 4}.get(name[-1], 0)
    assert kwargs["causal"] is False
    ahead = name.endswith("-metadata")
    assert (kwargs.get("scheduler_metadata") is not None) is ahead
    assert (prepared.plan is not None) is ahead
    if "pack" in name:
        pack = name.removeprefix("fa3-kvcache-pack-").partition("-")[0]
        assert kwargs["pack_gqa"] is {"auto": None, "true": True, "false": False}[pack]
        assert [tuple(x.shape) for x in args] == [(4, 1, 32, 128), *[(4, 256, 8, 128)] * 2]


def test_fa3_s_splits_are_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first entries of the scheduler's metadata are the splits of the requests."""
    calls = install_fa3(monkeypatch)
    prepared = ADAPTERS["fa3-varlen-metadata"]("fa3-varlen-metadata", inputs_of(EVEN), libraries())
    assert prepared.facts() == Facts(
        resolved_backend="fa3", splits_kv=True, max_splits=3, work_items=7
    )
    prepared.plan()
    assert len(calls["metadata"]) == 2


@pytest.mark.parametrize(
    ("pack", "splits", "asked"),
    [
        ("false", "1", False),
        ("false", "auto", True),
        ("false", "2", True),
        ("true", "auto", True),
        ("auto", "auto", None),
    ],
)
def test_fa3_s_splits_are_those_of_the_launch(
    monkeypatch: pytest.MonkeyPatch, pack: str, splits: str, asked: object
) -> None:
    """A launch that may split packs even if told not to, so its splits are asked for packed."""
    calls = install_fa3(monkeypatch)
    name = kvcache_name(pack, splits)
    ADAPTERS[name](name, inputs_of(EVEN), libraries())
    ((_, kwargs),) = calls["metadata"]
    assert kwargs["pack_gqa"] is asked
