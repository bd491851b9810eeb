"""Which library's device code each adapter names."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.backends import ADAPTERS, flash_attn, flashinfer_modules
from tests.benchmarks.fakes import (
    DECODE,
    EVEN,
    PREFILL,
    inputs_of,
    install,
    install_flashinfer,
    libraries,
)

FP8_KV = "decode-h32x4-d128-bf16-kvfp8-p16-b4-uniform-t1024"
PAGE_256 = "decode-h32x8-d128-bf16-p256-b3-skew40-t3000"


def cubin(name: str, workload: str) -> str | None:
    return ADAPTERS[name](name, inputs_of(workload), libraries()).facts().cubin


@pytest.mark.parametrize(
    ("name", "workload", "asked"),
    [
        ("flashinfer-decode-cuda", DECODE, "decode bf16 bf16 128"),
        ("flashinfer-decode-cuda-serving", EVEN, "decode bf16 bf16 128"),
        ("flashinfer-decode-tc-fa2", FP8_KV, "fa2 bf16 fp8 128"),
        ("flashinfer-decode-tc-auto", DECODE, "fa3 bf16 bf16 128"),
        ("flashinfer-prefill-fa2", PREFILL, "fa2 bf16 bf16 128"),
        ("flashinfer-prefill-auto", PREFILL, "fa3 bf16 bf16 128"),
    ],
)
def test_flashinfer_s_is_the_module_that_was_resolved_to(
    monkeypatch: pytest.MonkeyPatch, name: str, workload: str, asked: str
) -> None:
    """Path, types and head dimension decide; `auto` is what it became."""
    install_flashinfer(monkeypatch, "0.6.4")
    module = flashinfer_modules.Module
    told = lambda m: f"{m.path} {m.dtype} {m.kv_dtype} {m.head_dim}"  # noqa: E731
    monkeypatch.setattr(module, "cubin", told)
    assert cubin(name, workload) == asked


def test_a_path_of_another_kind_has_no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """What some later release resolves to is not taken for a module that it is not."""
    decode, _ = install_flashinfer(monkeypatch, "0.6.4")
    monkeypatch.setattr(flashinfer_modules.Module, "cubin", lambda _: "wrong")
    name = "flashinfer-decode-tc-auto"
    prepared = ADAPTERS[name](name, inputs_of(DECODE), libraries())
    decode.made[-1]._backend = "trtllm-gen"
    assert prepared.facts().cubin is None


@pytest.mark.parametrize("loaded", [True, False])
def test_prebuilt_kernels_are_in_the_extension(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, loaded: bool
) -> None:
    """FA3 and FA2 bring one extension module each; without it there is no hash, and no error."""
    functions: dict[str, Any] = {
        "get_scheduler_metadata": lambda *_, **__: inputs_of(EVEN).kv_lens_tensor
    }
    install(monkeypatch, "fa3_fwd_interface", **functions)
    install(monkeypatch, "flash_attn", flash_attn_with_kvcache=None)
    for module in ("fa3_fwd._C", "flash_attn_2_cuda") if loaded else ():
        install(monkeypatch, module, __file__=str(tmp_path / module))
    monkeypatch.setattr("benchmarks.backends.device_code.code_hash", lambda path: path.name)
    told = [cubin("fa3-varlen", EVEN), cubin(*flash_attn.NAMES, PAGE_256)]
    assert told == (["fa3_fwd._C", "flash_attn_2_cuda"] if loaded else [None, None])
