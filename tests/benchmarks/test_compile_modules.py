"""Compiling FlashInfer's modules ahead, with a made-up FlashInfer and no compiler."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from benchmarks import compile_modules
from benchmarks.backends.flashinfer_modules import FAILURE_FILE
from workloads.shape import DType

NAME = "batch_decode_bf16"
REFUSAL = """\
Ninja build failed. Ninja output:
/pkg/mma.hpp(6108): error: static assertion failed with "MajorB must be K"
3 errors detected in the compilation of "/gen/kernel.cu".
"""


@dataclass
class Release:
    """One made-up FlashInfer in a folder of its own; also its JitSpec and its row of modules."""

    root: Path
    workspace: Path
    shared_notes: bool = False
    refuses: str = ""
    flags: str = "-O3"
    name: str = NAME
    path: str = "decode"
    kv_dtype: DType = DType.BF16
    builds: int = 0
    unlisted: bool = False
    headers: dict[str, str] = field(default_factory=lambda: {"flashinfer/decode.cuh": "v1"})

    def __post_init__(self) -> None:
        for name, text in {**self.headers, "flashinfer/__init__.py": ""}.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        self.generated = self.workspace / "generated"
        (self.generated / NAME).mkdir(parents=True)
        (self.generated / NAME / "kernel.cu").write_text("generated")
        self.own = self.workspace / "cached_ops" / NAME

    @property
    def jit_library_path(self) -> Path:
        return self.own / f"{NAME}.so"

    @property
    def ninja_path(self) -> Path:
        return self.own / "build.ninja"

    def spec(self) -> "Release":
        return self

    def write_ninja(self) -> None:
        self.own.mkdir(parents=True, exist_ok=True)
        flags = f"cflags = {self.flags} -isystem {self.root}/flashinfer -I{self.generated / NAME}"
        self.ninja_path.write_text(f"{flags}\n\nrule compile\nbuild {self.jit_library_path}:\n")

    def build(self, *, verbose: bool) -> None:
        assert not verbose
        self.builds += 1
        if self.refuses:
            raise RuntimeError(self.refuses)
        self.jit_library_path.write_bytes(b"built from " + self.root.name.encode())
        folder = self.own.parent if self.shared_notes else self.own
        (folder / ".ninja_deps").write_text("")

    def ninja_deps(self, folder: Path) -> str:
        """What `ninja -t deps` prints: nothing where there are no notes."""
        if self.unlisted or not (folder / ".ninja_deps").is_file():
            return ""
        read = [self.generated / NAME / "kernel.cu", *(self.root / name for name in self.headers)]
        lines = [f"    {path}" for path in (*read, Path("/usr/include/features.h"))]
        return "\n".join([f"{NAME}/kernel.cuda.o: #deps 3, deps mtime 1 (VALID)", *lines, ""])


def install(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    package, jit = ModuleType("flashinfer"), ModuleType("flashinfer.jit")
    package.__file__ = str(release.root / "flashinfer" / "__init__.py")
    jit.env = SimpleNamespace(FLASHINFER_GEN_SRC_DIR=release.generated)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "flashinfer", package)
    monkeypatch.setitem(sys.modules, "flashinfer.jit", jit)
    monkeypatch.setattr(compile_modules, "modules_needed", lambda: (release,))
    monkeypatch.setattr(compile_modules, "auxiliary_specs", lambda: ())

    def ninja(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        assert (command[0], command[-2:]) == ("ninja", ["-t", "deps"])
        folder = Path(command[command.index("-C") + 1])
        return subprocess.CompletedProcess(command, 0, release.ninja_deps(folder))

    monkeypatch.setattr(subprocess, "run", ninja)


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Build the modules of a made-up release into `modules/<tag>`; return the release."""

    def build(tag: str, toolchain: str = "nvcc 13.0 9.0a", **fields: Any) -> Release:
        release = Release(tmp_path / tag, tmp_path / f"{tag}-workspace", **fields)
        install(release, monkeypatch)
        again(tmp_path, tag, toolchain)
        return release

    return build


def again(tmp_path: Path, tag: str, toolchain: str = "nvcc 13.0 9.0a") -> None:
    options = ["--name", tag, "--toolchain", toolchain]
    assert compile_modules.main([str(tmp_path / "modules"), *options]) == 0


def library(tmp_path: Path, tag: str) -> bytes:
    return (tmp_path / "modules" / tag / NAME / f"{NAME}.so").read_bytes()


@pytest.mark.parametrize("shared_notes", [True, False])
def test_the_sources_that_ninja_saw_are_written_down(
    make: Any, tmp_path: Path, *, shared_notes: bool
) -> None:
    """Generated files and the packages' headers are listed, in either place ninja keeps notes."""
    make("a", shared_notes=shared_notes)
    listing = json.loads((tmp_path / "modules" / "a" / NAME / "sources.json").read_text())
    assert sorted(listing["sources"]) == ["g:kernel.cu", "p:flashinfer/decode.cuh"]
    assert listing["toolchain"] == "nvcc 13.0 9.0a"
    assert str(tmp_path) not in listing["flags"]


@pytest.mark.parametrize("shared_notes", [True, False])
def test_identical_sources_are_copied(
    make: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, shared_notes: bool
) -> None:
    """A release whose sources and flags are those of another one gets its module unbuilt."""
    make("a", shared_notes=shared_notes)
    assert make("b").builds == 0
    assert library(tmp_path, "b") == b"built from a"
    assert "b decode bf16: same sources as a, copied" in capsys.readouterr().out


@pytest.mark.parametrize("shared_notes", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        {"headers": {"flashinfer/decode.cuh": "v2"}},
        {"flags": "-O2"},
        {"toolchain": "nvcc 13.1 9.0a"},
        {"toolchain": "nvcc 13.0 10.0a"},
    ],
)
def test_what_could_change_the_code_compiles_anew(
    make: Any, tmp_path: Path, change: dict[str, Any], *, shared_notes: bool
) -> None:
    """Another header, flag, compiler or architecture is another module."""
    make("a", shared_notes=shared_notes)
    assert make("b", shared_notes=shared_notes, **change).builds == 1
    assert library(tmp_path, "b") == b"built from b"


def test_tvm_ffi_s_headers_count(make: Any) -> None:
    """A module compiled against other tvm-ffi headers is not the same module."""
    headers = {"flashinfer/decode.cuh": "v1", "tvm_ffi/include/c_api.h": "v1"}
    make("a", headers=headers)
    assert make("b", headers={**headers, "tvm_ffi/include/c_api.h": "v2"}).builds == 1


def test_a_list_without_sources_proves_nothing(make: Any, tmp_path: Path) -> None:
    """If ninja kept no notes, no other release takes the module over."""
    make("a", unlisted=True)
    assert make("b").builds == 1
    assert library(tmp_path, "b") == b"built from b"


def test_what_is_there_is_not_built_again(make: Any, tmp_path: Path) -> None:
    """A second call builds nothing."""
    release = make("a")
    again(tmp_path, "a")
    assert release.builds == 1


def test_a_refusal_is_written_down(
    make: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sources that the compiler refuses leave the reason in the module's place, once."""
    release = make("a", refuses=REFUSAL)
    again(tmp_path, "a")
    folder = tmp_path / "modules" / "a" / NAME
    told = 'does not compile: mma.hpp(6108): error: static assertion failed with "MajorB must be K"'
    assert (folder / FAILURE_FILE).read_text() == f"{told}\n"
    assert [p.name for p in folder.iterdir()] == [FAILURE_FILE]
    assert release.builds == 1
    assert f"a decode bf16: {told}" in capsys.readouterr().out


def test_another_failure_ends_the_build_and_leaves_nothing(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that is killed says nothing about the sources: the next call tries again."""
    with pytest.raises(RuntimeError, match="Killed"):
        make("a", refuses="Ninja build failed. Ninja output:\nnvcc: Killed\n")
    assert not (tmp_path / "modules" / "a" / NAME).exists()
    make("b")
    retried = Release(tmp_path / "a", tmp_path / "retried")
    install(retried, monkeypatch)
    again(tmp_path, "a")
    assert library(tmp_path, "a") == b"built from b"


def test_half_a_module_is_never_left(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build that is ended while it copies leaves no module that a later one would trust."""

    def torn(_: Any, folder: Path) -> None:
        (Path(folder) / f"{NAME}.so").write_bytes(b"built fr")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("benchmarks.compile_modules.shutil.copy2", torn)
        with pytest.raises(KeyboardInterrupt):
            make("a")
    assert list((tmp_path / "modules" / "a").iterdir()) == []
