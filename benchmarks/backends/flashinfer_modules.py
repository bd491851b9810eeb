"""FlashInfer's JIT modules: which ones the catalog needs, and which are known not to compile.

A release may resolve to a kernel that does not compile at all. Trying takes a minute, so a
compiler's refusal is written down beside the prebuilt modules and raised again at once.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from packaging.version import Version

from benchmarks.backends.device_code import code_hash, loaded_libraries
from benchmarks.measure.inputs import torch_dtype
from workloads.catalog import cases
from workloads.shape import DType
from workloads.workload import Phase, parse

__all__ = [
    "FAILURE_FILE",
    "Module",
    "auxiliary_specs",
    "compiler_error",
    "modules_needed",
    "remember_refusals",
]

FAILURE_FILE: Final = "failed.txt"
_NO_PAGE_MODULE_SINCE: Final = Version("0.6.0")
_REFUSED: Final = re.compile(r"\d+ errors? detected in the compilation of")
_FIRST_ERROR: Final = re.compile(r"^(?:.*/)?([^/\n]+\(\d+\): error: .*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class Module:
    """One kernel module: `decode` (CUDA cores), `fa2` or `fa3`, for one set of types.

    Attributes
    ----------
    path
        `decode`, `fa2` or `fa3`.
    dtype, kv_dtype
        Types of query and KV cache.
    head_dim
        Head dimension.
    """

    path: str
    dtype: DType
    kv_dtype: DType
    head_dim: int

    def spec(self) -> Any:
        """Return FlashInfer's `JitSpec`, with the arguments its wrappers use without options."""
        from flashinfer.jit.attention import modules

        if self.path == "decode":
            return modules.gen_batch_decode_module(*self._arguments())
        generate = modules.gen_batch_prefill_module
        if self.path == "fa2":
            # From 0.7 on the wrappers load a variant for K and V with equal strides.
            generate = getattr(modules, "_gen_batch_prefill_primary_module", generate)
        return generate(self.path, *self._arguments(), use_fp16_qk_reduction=False)

    def cubin(self) -> str | None:
        """Return the hash of this module's device code; None unless the module is loaded."""
        try:
            name = self._name()
        except (ImportError, AttributeError, TypeError):
            return None
        # From 0.7 on fa2's file has more after the name.
        named = [p for p in loaded_libraries() if p.suffix == ".so" and p.stem.startswith(name)]
        found = [p for p in named if p.stem.endswith("_sm90") == (self.path == "fa3")]
        return code_hash(found[0]) if len(found) == 1 else None

    def _name(self) -> str:
        from flashinfer.jit.attention import modules

        if self.path == "decode":
            return str(modules.get_batch_decode_uri(*self._arguments()))
        return str(
            modules.get_batch_prefill_uri(
                self.path, *self._arguments(), use_fp16_qk_reduction=False
            )
        )

    def _arguments(self) -> tuple[Any, ...]:
        import torch

        q, kv, d = torch_dtype(self.dtype), torch_dtype(self.kv_dtype), self.head_dim
        no_options = (0, False, False)
        return q, kv, q, torch.int32, d, d, *no_options


def modules_needed() -> tuple[Module, ...]:
    """Return every module that some case of the catalog may load."""
    found = set()
    for entry in cases():
        if not entry.case.backend.startswith("flashinfer-"):
            continue
        workload = parse(entry.case.workload)
        shape = workload.shape
        paths = {"fa2", "fa3"} | ({"decode"} if workload.phase is Phase.DECODE else set())
        found |= {Module(p, shape.dtype, shape.kv_dtype, shape.head_dim) for p in paths}
    return tuple(sorted(found))


def auxiliary_specs() -> tuple[Any, ...]:
    """Return the `JitSpec`s of modules that hold no attention and are loaded all the same.

    Up to 0.5.3 the prefill wrapper converts page tables for fa3 on the device.
    """
    import flashinfer

    if Version(flashinfer.__version__) >= _NO_PAGE_MODULE_SINCE:
        return ()
    from flashinfer.jit.page import gen_page_module

    return (gen_page_module(),)


def compiler_error(message: str) -> str | None:
    """Return the compiler's first complaint if the sources were refused, else None.

    A build that failed for another reason (no compiler, no memory) may work next time.
    """
    if not _REFUSED.search(message):
        return None
    match = _FIRST_ERROR.search(message)
    return match[1] if match else "the compiler refused the sources"


def remember_refusals() -> None:
    """Make FlashInfer raise a refusal it met before at once, and write down new ones."""
    from flashinfer.jit import core, env

    # From 0.7 on JitSpec is abstract, and this is what compiles with nvcc.
    compiled = getattr(core, "JitSpecNvcc", core.JitSpec)
    original = compiled.build

    def build(spec: Any, *args: Any, **kwargs: Any) -> None:
        note = Path(env.FLASHINFER_AOT_DIR, spec.name, FAILURE_FILE)
        if note.is_file():
            raise RuntimeError(note.read_text(encoding="utf-8").strip())
        try:
            original(spec, *args, **kwargs)
        except RuntimeError as error:
            if (refusal := compiler_error(str(error))) is None:
                raise
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(f"does not compile: {refusal}\n", encoding="utf-8")
            raise RuntimeError(note.read_text(encoding="utf-8").strip()) from error

    compiled.build = build
