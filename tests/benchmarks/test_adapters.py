"""Adapters: each runs or says why not, and calls its library as every release accepts."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from benchmarks.backends import ADAPTERS, Unsupported, flash_attn, workspace
from benchmarks.measure.reference import Reference
from tests.benchmarks.fakes import (
    DECODE,
    EVEN,
    PREFILL,
    RELEASES,
    block,
    inputs_of,
    install,
    install_flashinfer,
    libraries,
)
from workloads.backend import BACKENDS, Layout, Mode
from workloads.catalog import cases
from workloads.record import Facts
from workloads.shape import DType
from workloads.workload import Phase, parse

ON_GPU = [b for b in BACKENDS if b.library not in {"torch", "none"}]
NAMES = [b.name for b in ON_GPU]
FP8_KV = "decode-h32x4-d128-bf16-kvfp8-p16-b4-uniform-t1024"
GROUP_16 = "decode-h16x1-d128-bf16-p16-b4-uniform-t1024"


def refusal(name: str, workload: str = DECODE, **host: Any) -> str:
    """Why a backend does not run a workload."""
    with pytest.raises(Unsupported) as caught:
        ADAPTERS[name](name, inputs_of(workload), libraries(**host))
    return str(caught.value)


def test_every_backend_has_an_adapter() -> None:
    """The table of adapters and the list of backends name the same ones."""
    assert set(ADAPTERS) == {b.name for b in BACKENDS}


def test_a_backend_is_named_once() -> None:
    """No adapter takes another's name over unseen."""
    modules = {adapter.__module__ for adapter in ADAPTERS.values()}
    names = [name for module in modules for name in sys.modules[module].NAMES]
    assert len(names) == len(set(names)) == len(BACKENDS)


def test_every_backend_of_the_catalog_has_an_adapter() -> None:
    """No case of the catalog fails for want of an adapter."""
    assert {e.case.backend for e in cases()} <= set(ADAPTERS)


@pytest.mark.parametrize("backend", ON_GPU, ids=lambda b: b.name)
def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, backend: Any) -> None:
    """The reason names the library and the GPU, and nothing was imported to find out."""
    block(monkeypatch)
    told = refusal(backend.name, has_gpu=False)
    assert told == f"{backend.library} needs a CUDA GPU and this host has none"


@pytest.mark.parametrize("backend", ON_GPU, ids=lambda b: b.name)
def test_without_a_pin_it_says_so(monkeypatch: pytest.MonkeyPatch, backend: Any) -> None:
    """A stack without the library has a reason, not an ImportError."""
    block(monkeypatch)
    assert f"this stack pins no {backend.library}" in refusal(backend.name, versions={})


@pytest.mark.parametrize("backend", ON_GPU, ids=lambda b: b.name)
def test_an_import_problem_is_the_reason(monkeypatch: pytest.MonkeyPatch, backend: Any) -> None:
    """What went wrong when the library was imported is what the cell says."""
    block(monkeypatch)
    problem = f"{backend.library} cannot be imported: libcudart.so.13"
    assert refusal(backend.name, problems={backend.library: problem}) == problem


def test_an_absent_flash_attn_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The index has no wheel: the reason names the command that adds a built one."""
    block(monkeypatch)
    told = refusal("flash-attn-paged", versions={"flashinfer-python": "0.6.1"})
    assert "python -m benchmarks stacks adhoc TAG --wheel FILE" in told


@pytest.mark.parametrize(
    ("name", "workload", "versions", "told"),
    [
        ("flashinfer-decode-tc-fa3", DECODE, {"flashinfer-python": "0.5.3"}, "0.5.3 has no fa3"),
        (
            "flashinfer-decode-tc-fa3-serving",
            DECODE,
            {"flashinfer-python": "0.5.0"},
            "0.5.0 has no fa3",
        ),
        ("flashinfer-decode-cuda", GROUP_16, None, "no CUDA-core decode kernel for head group 16"),
        ("flashinfer-decode-cuda-serving", GROUP_16, None, "(only 1, 2, 3, 4, 8)"),
        ("flashinfer-decode-tc-fa2", PREFILL, None, "decode wrapper runs decode only"),
        ("fa3-varlen", FP8_KV, None, "FA3 wants query and KV of one type; bf16 over fp8"),
        ("fa3-kvcache-pack-auto-splits-1", FP8_KV, None, "bf16 over fp8"),
        ("fa3-kvcache-pack-auto-splits-1", DECODE, None, "uneven batches run as fa3-varlen"),
        ("fa3-kvcache-metadata", DECODE, None, "padded to the longest request"),
        ("flash-attn-paged", DECODE, None, "pages of a multiple of 256, not 16"),
        ("flash-attn-paged", FP8_KV, None, "no kernel for bf16 over fp8 KV"),
        ("sdpa", DECODE, None, "batches of one length"),
        ("sdpa", PREFILL, None, "causal only from the first token"),
        ("sdpa", FP8_KV, None, "one type, not bf16 over fp8"),
        ("sdpa", "decode-h8x2-d64-fp32-p16-b4-uniform-t64", None, "only on hosts without a GPU"),
    ],
)
def test_what_a_backend_cannot_do_it_says(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    workload: str,
    versions: dict[str, str] | None,
    told: str,
) -> None:
    """Releases, head groups, types, layouts and page sizes that do not go are named at once."""
    block(monkeypatch)
    assert told in refusal(name, workload, versions=versions)


@pytest.mark.parametrize("pre", ["0.6.0", "0.6.4", "0.7.4", "0.6.8.post1"])
def test_releases_with_an_fa3_path_use_it(monkeypatch: pytest.MonkeyPatch, pre: str) -> None:
    """From 0.6.0 on the decode wrapper takes fa3."""
    decode, _ = install_flashinfer(monkeypatch, "0.6.4")
    host = libraries({"flashinfer-python": pre})
    ADAPTERS["flashinfer-decode-tc-fa3"]("flashinfer-decode-tc-fa3", inputs_of(DECODE), host)
    assert decode.made[0].options["backend"] == "fa3"


@pytest.mark.parametrize("has", [{"has_torch": False, "has_gpu": False}, {"has_gpu": False}])
def test_sdpa_on_a_host_without_a_gpu(has: dict[str, bool]) -> None:
    """A GPU workload is not measured on a CPU, and without torch nothing is."""
    wanted = "CUDA GPU" if has.get("has_torch", True) else "torch is not installed"
    assert wanted in refusal("sdpa", **has)


def test_a_script_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a script, or with one that is silent on a workload, nothing is scripted."""
    monkeypatch.delenv("ATTN_SCRIPT", raising=False)
    assert refusal("scripted") == "ATTN_SCRIPT names no script"


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("backend", [b for b in ON_GPU if "decode" in b.name], ids=lambda b: b.name)
def test_decode_wrappers_of_every_release(
    monkeypatch: pytest.MonkeyPatch, release: str, backend: Any
) -> None:
    """Old and keyword-only signatures both take the calls, and get what the name says."""
    decode, prefill = install_flashinfer(monkeypatch, release)
    inputs = inputs_of(DECODE)
    host = libraries({"flashinfer-python": release})
    if "tc-fa3" in backend.name and release == "0.5.3":
        assert "no fa3 path" in refusal(backend.name, versions=host.versions)
        return
    prepared = ADAPTERS[backend.name](backend.name, inputs, host)
    (wrapper,) = decode.made
    assert not prefill.made
    _check_options(wrapper.options, backend, inputs)
    (plan,) = wrapper.plans
    assert plan["indptr"] is inputs.paged.indptr_host
    assert plan["indices"] is inputs.paged.indices
    assert plan["last_page_len"] is inputs.paged.last_page_len_host
    heads = plan["num_qo_heads"], plan["num_kv_heads"], plan["head_dim"], plan["page_size"]
    assert heads == (32, 4, 128, 16)
    assert (plan["q_data_type"], plan["kv_data_type"]) == (torch.bfloat16, torch.bfloat16)
    _check_launch(prepared, wrapper, inputs)


def _check_options(options: dict[str, Any], backend: Any, inputs: Any) -> None:
    path = backend.name.removeprefix("flashinfer-decode-").removesuffix("-serving")
    assert options["use_tensor_cores"] is (path != "cuda")
    assert options["backend"] == (path.removeprefix("tc-") if path != "cuda" else "auto")
    assert options["kv_layout"] == "NHD"
    serving = backend.mode is Mode.SERVING
    assert options["use_cuda_graph"] is serving
    for name in ("indptr", "indices", "last_page_len"):
        buffer = options[f"paged_kv_{name}_buffer"]
        assert (buffer is not None) is serving
        if serving:
            table = getattr(inputs.paged, name)
            assert torch.equal(buffer, table)
            # plan() writes into it: the page table of other cases must not change.
            assert buffer.data_ptr() != table.data_ptr()


def _check_launch(prepared: Any, wrapper: Any, inputs: Any) -> None:
    output = prepared.launch()
    (run,) = wrapper.runs
    assert run["q"] is inputs.q
    assert run["paged_kv_cache"] == (inputs.paged.k, inputs.paged.v)
    assert output is run["out"]
    assert output.shape == inputs.q.shape
    prepared.launch()
    assert wrapper.runs[1]["out"] is output
    prepared.plan()
    assert len(wrapper.plans) == 2
    assert isinstance(prepared.facts(), Facts)


def test_what_auto_resolved_to_is_a_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    """After plan() the wrapper knows; CUDA cores have no such word."""
    install_flashinfer(monkeypatch, "0.6.4")
    for name, resolved in (
        ("flashinfer-decode-tc-auto", "fa3"),
        ("flashinfer-decode-tc-fa2-serving", "fa2"),
        ("flashinfer-decode-cuda", None),
        ("flashinfer-prefill-auto", "fa3"),
    ):
        facts = ADAPTERS[name](name, inputs_of(DECODE), libraries()).facts()
        assert facts.resolved_backend == resolved


def test_before_0_6_auto_decode_is_fa2(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those wrappers keep the word `auto` and run fa2; later ones are taken at their word."""
    decode, _ = install_flashinfer(monkeypatch, "0.5.3")
    name = "flashinfer-decode-tc-auto"
    told = {}
    for version in ("0.5.3", "0.6.4"):
        pins = libraries({"flashinfer-python": version})
        prepared = ADAPTERS[name](name, inputs_of(DECODE), pins)
        decode.made[-1]._backend = "auto"
        told[version] = prepared.facts().resolved_backend
    assert told == {"0.5.3": "fa2", "0.6.4": "auto"}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("path", ["fa2", "fa3", "auto"])
@pytest.mark.parametrize("workload", [PREFILL, DECODE, PREFILL.replace("-q16", "-q16-full")])
def test_prefill_wrappers_of_every_release(
    monkeypatch: pytest.MonkeyPatch, release: str, path: str, workload: str
) -> None:
    """The prefill wrapper gets both page tables, the mask and the types by name."""
    decode, prefill = install_flashinfer(monkeypatch, release)
    inputs, name = inputs_of(workload), f"flashinfer-prefill-{path}"
    prepared = ADAPTERS[name](name, inputs, libraries({"flashinfer-python": release}))
    (wrapper,) = prefill.made
    assert not decode.made
    assert wrapper.options["backend"] == path
    (plan,) = wrapper.plans
    assert plan["qo_indptr"] is inputs.cu_q_host
    assert plan["paged_kv_indptr"] is inputs.paged.indptr_host
    assert plan["paged_kv_indices"] is inputs.paged.indices
    assert plan["paged_kv_last_page_len"] is inputs.paged.last_page_len_host
    assert plan["causal"] is parse(workload).causal
    assert (plan["head_dim_qk"], plan["page_size"]) == (128, 16)
    assert (plan["q_data_type"], plan["kv_data_type"]) == (torch.bfloat16, torch.bfloat16)
    _check_launch(prepared, wrapper, inputs)


def test_an_fp8_cache_is_named_to_flashinfer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Query and cache have types of their own."""
    decode, _ = install_flashinfer(monkeypatch, "0.6.4")
    name = "flashinfer-decode-tc-fa2"
    ADAPTERS[name](name, inputs_of(FP8_KV), libraries())
    plan = decode.made[0].plans[0]
    assert (plan["q_data_type"], plan["kv_data_type"]) == (torch.bfloat16, torch.float8_e4m3fn)


def test_flash_attn_gets_padded_block_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each request's pages in a row; an FA2 wheel that the user built runs on pages of 256."""
    calls: list[Any] = []

    def with_kvcache(*args: Any, **kwargs: Any) -> Any:
        calls.append((args, kwargs))
        return "output"

    install(monkeypatch, "flash_attn", flash_attn_with_kvcache=with_kvcache)
    inputs = inputs_of("decode-h32x8-d128-bf16-p256-b3-skew40-t3000")
    prepared = flash_attn.prepare("flash-attn-paged", inputs, libraries())
    assert prepared.launch() == "output"
    ((q, k, _), kwargs) = calls[0]
    assert q.shape == (3, 1, 32, 128)
    assert k is inputs.paged.k
    assert kwargs["cache_seqlens"].tolist() == [1200, 900, 900]
    table, indices = kwargs["block_table"], inputs.paged.indices
    assert table.shape == (3, 5)
    assert torch.equal(table[0], indices[:5])
    assert torch.equal(table[1, :4], indices[5:9])
    assert torch.equal(table[2, :4], indices[9:13])


CPU = {e.case.workload for e in cases() if parse(e.case.workload).shape.dtype is DType.FP32}
CHUNKED = "prefill-h8x2-d64-fp32-p16-q64-b3-skew40-t900"


@pytest.mark.parametrize("workload", sorted({*CPU, CHUNKED}))
def test_sdpa_on_a_cpu_is_right(workload: str) -> None:
    """The embedded default computes attention, decode and causal prefill alike."""
    inputs = inputs_of(workload)
    prepared = ADAPTERS["sdpa"]("sdpa", inputs, libraries(has_gpu=False))
    assert Reference(inputs, Layout.CONTIGUOUS).error(prepared.launch()) < 1e-5


def test_sdpa_on_a_gpu_asks_for_the_flash_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """No silent fall-back to another kernel: SDPA's context allows the flash one alone."""
    asked: list[Any] = []

    class Context:
        def __init__(self, kernel: Any) -> None:
            asked.append(kernel)

        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    attention = SimpleNamespace(SDPBackend=SimpleNamespace(FLASH_ATTENTION="flash"))
    attention.sdpa_kernel = Context
    monkeypatch.setitem(sys.modules, "torch.nn.attention", attention)
    inputs = inputs_of(EVEN)
    prepared = ADAPTERS["sdpa"]("sdpa", inputs, libraries())
    output = prepared.launch()
    assert asked == ["flash"]
    assert Reference(inputs, Layout.CONTIGUOUS).error(output) < 0.02


def test_all_wrappers_share_one_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases never run at the same time, so the 512 MiB are there once."""
    monkeypatch.setattr(workspace, "_BYTES", 64)
    workspace.float_workspace.cache_clear()
    assert workspace.float_workspace("cpu") is workspace.float_workspace("cpu")
    assert workspace.float_workspace("cpu").numel() == 64
    workspace.float_workspace.cache_clear()


def test_backends_run_the_phases_they_name() -> None:
    """The catalog asks no backend for a phase that it does not have."""
    phases = {b.name: b.phases for b in BACKENDS}
    assert all(parse(e.case.workload).phase in phases[e.case.backend] for e in cases())
    assert phases["flashinfer-decode-cuda"] == {Phase.DECODE}
