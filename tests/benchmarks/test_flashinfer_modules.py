"""Which modules the catalog needs, and remembering what does not compile."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from benchmarks.backends import flashinfer_modules
from benchmarks.backends.flashinfer_modules import (
    FAILURE_FILE,
    Module,
    compiler_error,
    modules_needed,
    remember_refusals,
)
from workloads.catalog import cases
from workloads.shape import DType
from workloads.workload import parse

NAME = "batch_prefill_with_kv_cache_dtype_q_bf16_dtype_kv_e4m3_sm90"
# As ninja and nvcc 13.0 print it, shortened; folders are made up.
REFUSED = """\
Ninja build failed. Ninja output:
ninja: Entering directory `/root/.cache/flashinfer/0.6.1/90a/cached_ops/m'
[1/5] /usr/local/cuda/bin/nvcc -DNDEBUG -O3 -c /gen/m/kernel_mask_0.cu -o kernel_mask_0.cuda.o
FAILED: [code=2] kernel_mask_0.cuda.o
/usr/local/cuda/bin/nvcc -DNDEBUG -O3 -c /gen/m/kernel_mask_0.cu -o kernel_mask_0.cuda.o
/env/site-packages/flashinfer/data/cutlass/include/cute/arch/mma_sm90.hpp(6108): error: static \
assertion failed with "MajorB must be GMMA::Major::K for this config."
        static_assert(MajorB == GMMA::Major::K, "MajorB must be GMMA::Major::K for this config.");
        ^
          detected during:
            instantiation of "auto cute::SM90::GMMA::rs_op_selector<...>() [with TileShape_MNK=...]"

/env/site-packages/flashinfer/data/include/x.cuh(79): error: no instance of function "a/b" matches
3 errors detected in the compilation of "/gen/m/kernel_mask_0.cu".
ninja: build stopped: subcommand failed.
"""
REASON = (
    'mma_sm90.hpp(6108): error: static assertion failed with "MajorB must be GMMA::Major::K for '
    'this config."'
)
STOPPED = "Ninja build failed. Ninja output:\n{}\nninja: build stopped: subcommand failed.\n"
OTHER_FAILURES = (
    STOPPED.format("/bin/sh: 1: nvcc: not found"),
    STOPPED.format("FAILED: [code=137] k.cuda.o\nKilled"),
    STOPPED.format("nvcc error   : 'cicc' died due to signal 9 (Kill signal)"),
    STOPPED.format("/usr/bin/ld: cannot find -lcuda\ncollect2: error: ld returned 1 exit status"),
    STOPPED.format("x.cu:3:10: fatal error: curand.h: No such file\ncompilation terminated."),
    STOPPED.format(
        'x.cuh(3): catastrophic error: cannot open source file "curand.h"\n'
        '1 catastrophic error detected in the compilation of "x.cu".'
    ),
    "No space left on device",
    "CUDA error: out of memory",
)


def test_the_compiler_s_first_complaint_is_the_reason() -> None:
    """Of a refusal only the first error is kept, without its folder."""
    assert compiler_error(REFUSED) == REASON


@pytest.mark.parametrize("message", [*OTHER_FAILURES, ""])
def test_other_failures_are_no_refusals(message: str) -> None:
    """A missing compiler, header or library, or no memory, may be gone the next time."""
    assert compiler_error(message) is None


def test_one_error_is_enough_and_may_be_unreadable() -> None:
    """The compiler's count decides; without a readable error the reason is general."""
    told = 'k.cu(3): error: expected a ";"\n1 error detected in the compilation of "k.cu".'
    assert compiler_error(told) == 'k.cu(3): error: expected a ";"'
    unread = '1 error detected in the compilation of "k.cu".'
    assert compiler_error(unread) == "the compiler refused the sources"


def test_every_case_finds_its_module() -> None:
    """Whatever path a case takes or `auto` may take, for its types and dimension, is needed."""
    needed = set(modules_needed())
    chosen = [e.case for e in cases() if e.case.backend.startswith("flashinfer-")]
    for case in chosen:
        shape, words = parse(case.workload).shape, set(case.backend.split("-"))
        paths = {"decode"} if "cuda" in words else {"fa2", "fa3"} & words or {"fa2", "fa3"}
        types = shape.dtype, shape.kv_dtype, shape.head_dim
        assert {Module(path, *types) for path in paths} <= needed, case
    assert len(chosen) > 100


def test_modules_are_few_and_in_order() -> None:
    """Each is listed once: two types of cache on three paths."""
    modules = modules_needed()
    assert len(set(modules)) == len(modules) == 6
    assert modules == tuple(sorted(modules))


@pytest.mark.parametrize(
    ("path", "called"),
    [("decode", "decode"), ("fa2", "prefill fa2"), ("fa3", "prefill fa3")],
)
def test_a_module_s_spec(monkeypatch: pytest.MonkeyPatch, path: str, called: str) -> None:
    """FlashInfer's generators get the arguments that its wrappers use without options."""
    told: list[Any] = []

    def decode(*args: Any) -> str:
        told.append(("decode", args, {}))
        return "spec"

    def prefill(backend: str, *args: Any, **kwargs: Any) -> str:
        told.append((f"prefill {backend}", args, kwargs))
        return "spec"

    modules = SimpleNamespace(gen_batch_decode_module=decode, gen_batch_prefill_module=prefill)
    package = ModuleType("flashinfer.jit.attention")
    package.modules = modules  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "flashinfer", ModuleType("flashinfer"))
    monkeypatch.setitem(sys.modules, "flashinfer.jit", ModuleType("flashinfer.jit"))
    monkeypatch.setitem(sys.modules, "flashinfer.jit.attention", package)
    assert Module(path, DType.BF16, DType.FP8, 128).spec() == "spec"
    ((name, args, kwargs),) = told
    assert name == called
    bf16, fp8 = torch.bfloat16, torch.float8_e4m3fn
    assert args == (bf16, fp8, bf16, torch.int32, 128, 128, 0, False, False)
    assert kwargs == ({} if path == "decode" else {"use_fp16_qk_reduction": False})


def test_later_releases_load_another_variant_of_fa2(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 0.7 on the wrappers load the one for equal strides, so that is the one to build."""
    told: list[str] = []

    def public(backend: str, *_: Any, use_fp16_qk_reduction: bool) -> None:
        told.append(f"public {backend} {use_fp16_qk_reduction}")

    def primary(backend: str, *_: Any, use_fp16_qk_reduction: bool) -> None:
        told.append(f"primary {backend} {use_fp16_qk_reduction}")

    package = ModuleType("flashinfer.jit.attention")
    package.modules = SimpleNamespace(  # type: ignore[attr-defined]
        gen_batch_prefill_module=public, _gen_batch_prefill_primary_module=primary
    )
    for name in ("flashinfer", "flashinfer.jit"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "flashinfer.jit.attention", package)
    for path in ("fa2", "fa3"):
        Module(path, DType.BF16, DType.BF16, 128).spec()
    assert told == ["primary fa2 False", "public fa3 False"]


@pytest.mark.parametrize(
    ("release", "specs"), [("0.5.0", ("page",)), ("0.5.3", ("page",)), ("0.6.0", ())]
)
def test_what_else_a_release_loads(
    monkeypatch: pytest.MonkeyPatch, release: str, specs: tuple[str, ...]
) -> None:
    """Up to 0.5.3 the prefill wrapper converts page tables for fa3 with a module of its own."""
    package, page = ModuleType("flashinfer"), ModuleType("flashinfer.jit.page")
    package.__version__ = release  # type: ignore[attr-defined]
    page.gen_page_module = lambda: "page"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "flashinfer", package)
    monkeypatch.setitem(sys.modules, "flashinfer.jit", ModuleType("flashinfer.jit"))
    monkeypatch.setitem(sys.modules, "flashinfer.jit.page", page)
    assert flashinfer_modules.auxiliary_specs() == specs


DECODE_NAME = "batch_decode_q_bf16_kv_bf16"
FA2_NAME = "batch_prefill_q_bf16_kv_bf16_f16qk_False"
FA3_NAME = FA2_NAME + "_sm90"


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """FlashInfer's functions that name modules, as its releases since 0.5.0 have them."""

    def decode(*arguments: Any) -> str:
        assert len(arguments) == 9
        return DECODE_NAME

    def prefill(backend: str, *arguments: Any, use_fp16_qk_reduction: bool) -> str:
        assert len(arguments) == 9
        assert not use_fp16_qk_reduction
        return FA3_NAME if backend == "fa3" else FA2_NAME

    names = SimpleNamespace(get_batch_decode_uri=decode, get_batch_prefill_uri=prefill)
    package = ModuleType("flashinfer.jit.attention")
    package.modules = names  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "flashinfer", ModuleType("flashinfer"))
    monkeypatch.setitem(sys.modules, "flashinfer.jit", ModuleType("flashinfer.jit"))
    monkeypatch.setitem(sys.modules, "flashinfer.jit.attention", package)
    return names


def cubins(monkeypatch: pytest.MonkeyPatch, *loaded: str) -> dict[str, str | None]:
    """What each path's device code is called, when files of these names are loaded."""
    files = {Path("/aot", name) for name in (*loaded, "libc.so.6", "python3.11")}
    monkeypatch.setattr(flashinfer_modules, "loaded_libraries", lambda: files)
    monkeypatch.setattr(flashinfer_modules, "code_hash", lambda path: path.name)
    bf16 = DType.BF16
    return {path: Module(path, bf16, bf16, 128).cubin() for path in ("decode", "fa2", "fa3")}


@pytest.mark.usefixtures("names")
def test_the_device_code_is_that_of_the_loaded_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever are loaded, each path has its own file, and one that is not loaded has none."""
    decode, fa2, fa3 = (f"{name}.so" for name in (DECODE_NAME, FA2_NAME, FA3_NAME))
    told = {"decode": decode, "fa2": fa2, "fa3": fa3}
    assert cubins(monkeypatch, decode, fa2, fa3) == told
    assert cubins(monkeypatch, fa3) == {"decode": None, "fa2": None, "fa3": fa3}
    assert cubins(monkeypatch) == {"decode": None, "fa2": None, "fa3": None}


@pytest.mark.usefixtures("names")
def test_later_releases_lengthen_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """0.7 builds fa2 in parts: with one of them loaded it is the module, with two none is."""
    one, two = f"{FA2_NAME}_primary.so", f"{FA2_NAME}_paged.so"
    assert cubins(monkeypatch, one)["fa2"] == one
    assert cubins(monkeypatch, one, two)["fa2"] is None


def test_a_release_that_names_modules_otherwise_tells_nothing(
    monkeypatch: pytest.MonkeyPatch, names: SimpleNamespace
) -> None:
    """Private names may go or change: then the fact is missing, and nothing else."""
    names.get_batch_prefill_uri = lambda _: "another signature"
    del names.get_batch_decode_uri
    assert cubins(monkeypatch, f"{DECODE_NAME}.so") == dict.fromkeys(("decode", "fa2", "fa3"))


class Release:
    """A made-up FlashInfer whose modules fail to build with a given message, or not."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, folder: Path, message: str, compiled: str = "JitSpec"
    ) -> None:
        self.builds: list[Any] = []
        release = self

        class JitSpec:
            name = NAME

            def build(self, verbose: bool, need_lock: bool = True) -> None:  # noqa: FBT001, FBT002
                release.builds.append((verbose, need_lock))
                if message:
                    raise RuntimeError(message)

        self.note = folder / NAME / FAILURE_FILE
        core, jit = ModuleType("flashinfer.jit.core"), ModuleType("flashinfer.jit")
        core.JitSpec = type("Abstract", (), {})  # type: ignore[attr-defined]
        setattr(core, compiled, JitSpec)
        jit.env = SimpleNamespace(FLASHINFER_AOT_DIR=folder)  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "flashinfer", ModuleType("flashinfer"))
        monkeypatch.setitem(sys.modules, "flashinfer.jit", jit)
        monkeypatch.setitem(sys.modules, "flashinfer.jit.core", core)
        remember_refusals()
        self.spec = JitSpec()


def test_a_refusal_is_written_down_and_raised_again_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The second process that meets it does not compile for a minute to fail again."""
    first = Release(monkeypatch, tmp_path, REFUSED)
    with pytest.raises(RuntimeError) as caught:
        first.spec.build(verbose=False, need_lock=False)
    assert str(caught.value) == f"does not compile: {REASON}"
    assert first.note.read_text() == f"does not compile: {REASON}\n"
    assert first.builds == [(False, False)]
    second = Release(monkeypatch, tmp_path, REFUSED)
    with pytest.raises(RuntimeError) as again:
        second.spec.build(False)  # noqa: FBT003 - as FlashInfer calls it
    assert str(again.value) == str(caught.value)
    assert second.builds == []


def test_refusals_are_remembered_in_later_releases_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """From 0.7 on what nvcc builds has a class of its own below an abstract JitSpec."""
    release = Release(monkeypatch, tmp_path, REFUSED, compiled="JitSpecNvcc")
    with pytest.raises(RuntimeError, match="does not compile"):
        release.spec.build(verbose=False)
    assert release.note.is_file()


@pytest.mark.parametrize("message", OTHER_FAILURES)
def test_other_failures_are_not_remembered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, message: str
) -> None:
    """They are raised as they are, and the next process tries again."""
    for _ in range(2):
        release = Release(monkeypatch, tmp_path, message)
        with pytest.raises(RuntimeError) as caught:
            release.spec.build(verbose=False)
        assert str(caught.value) == message
        assert len(release.builds) == 1
    assert not release.note.exists()


def test_what_compiles_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A build that succeeds leaves no note."""
    release = Release(monkeypatch, tmp_path, "")
    release.spec.build(verbose=True)
    assert release.builds == [(True, True)]
    assert list(tmp_path.iterdir()) == []
