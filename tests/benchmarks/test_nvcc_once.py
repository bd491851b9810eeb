"""The front for nvcc, before a made-up compiler that runs as nvcc does."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.nvcc_once import main

NVCC = """\
#!{python}
import pathlib, sys
words, here = sys.argv[1:], pathlib.Path(__file__).parent
if "--version" in words:
    print((here / "version").read_text())
elif "--dryrun" in words:
    source = words[words.index("-c") + 1]
    flags = " ".join(w for w in words if w.startswith(("-I", "-D")))
    for macro in ("", "-D__CUDA_ARCH__=900"):
        sys.stderr.write(f"#$ gcc {{macro}} {{flags}} -E -x c++ {{source}} -o /tmp/x.ii\\n")
    sys.stderr.write("#$ cicc /tmp/x.ii\\n#$ gcc -c -x c++ /tmp/x.cpp -o x.o\\n")
else:
    with (here / "runs").open("a") as file:
        file.write(" ".join(words) + "\\n")
    source, target = words[words.index("-c") + 1], words[words.index("-o") + 1]
    text = pathlib.Path(source).read_text()
    if "refuse" in text:
        sys.exit('k.cu(3): error: expected a ";"\\n1 error detected in the compilation of "k.cu".')
    if "crash" in text:
        sys.exit("Killed")
    pathlib.Path(target).write_text("object of " + source)
    if "-MF" in words:
        pathlib.Path(words[words.index("-MF") + 1]).write_text(f"{{target}}: {{source}}\\n")
"""


class Compiler:
    """A made-up nvcc on PATH, releases with a header and a source, and a store of objects."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.store = folder, folder / "store"
        self.store.mkdir()
        (folder / "bin").mkdir()
        self.version = folder / "bin" / "version"
        self.version.write_text("release 13.0")
        nvcc = folder / "bin" / "nvcc"
        nvcc.write_text(NVCC.format(python=sys.executable))
        nvcc.chmod(nvcc.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
        monkeypatch.setenv("ATTN_OBJECT_STORE", str(self.store))

    def compile(self, release: str, header: str = "int f();", *flags: str, code: str = "") -> int:
        """Compile `k.cu` of a release, whose only header is this one."""
        include = self.folder / release / "include"
        include.mkdir(parents=True, exist_ok=True)
        (include / "attention.cuh").write_text(header)
        (self.folder / release / "k.cu").write_text(f'#include "attention.cuh"\n{code}\n')
        words = [f"-I{include}", *flags, "-MF", str(self.folder / release / "k.d")]
        source, target = (str(self.folder / release / name) for name in ("k.cu", "k.o"))
        return main([*words, "-c", source, "-o", target])

    @property
    def runs(self) -> int:
        file = self.folder / "bin" / "runs"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def object(self, release: str) -> str:
        return (self.folder / release / "k.o").read_text()

    @property
    def tally(self) -> list[str]:
        lines = (self.store / "tally.txt").read_text().splitlines()
        return [line.partition(" ")[0] for line in lines]


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    return Compiler(tmp_path, monkeypatch)


def test_equal_code_of_another_release_is_taken(compiler: Compiler) -> None:
    """The second release gets the object of the first, and both are counted."""
    assert compiler.compile("a") == compiler.compile("b") == 0
    assert compiler.runs == 1
    assert compiler.object("b") == compiler.object("a")
    assert compiler.tally == ["compiled", "reused"]


@pytest.mark.parametrize(
    "header",
    ["// a comment\nint f();", "\n\n\nint f();", "#define UNUSED 1\nint f();"],
)
def test_what_the_compiler_does_not_see_does_not_count(compiler: Compiler, header: str) -> None:
    """Comments, lines above and macros that nothing uses leave the code equal."""
    compiler.compile("a")
    compiler.compile("b", header)
    assert compiler.runs == 1


@pytest.mark.parametrize(
    "header",
    [
        "int g();",
        "#ifdef __CUDA_ARCH__\nint device();\n#endif\nint f();",
        "#ifndef __CUDA_ARCH__\nint host();\n#endif\nint f();",
    ],
)
def test_other_code_is_compiled(compiler: Compiler, header: str) -> None:
    """A change that only the host's or only the device's compiler sees counts too."""
    compiler.compile("a")
    compiler.compile("b", header)
    assert compiler.runs == 2
    assert compiler.object("b") != compiler.object("a")


def test_flags_and_compiler_count(compiler: Compiler) -> None:
    """Another optimisation, or another nvcc, is another object."""
    compiler.compile("a", "int f();", "-O3")
    compiler.compile("b", "int f();", "-O2")
    compiler.version.write_text("release 13.1")
    compiler.compile("c", "int f();", "-O3")
    assert compiler.runs == 3


def test_compression_is_left_out(compiler: Compiler) -> None:
    """Later releases ask for it: the code is the same, and can be compared without."""
    compiler.compile("a")
    compiler.compile("b", "int f();", "-Xfatbin=-compress-all", "--compress-mode=size")
    assert compiler.runs == 1
    compiler.compile("c", "int g();", "-Xfatbin=-compress-all")
    assert "-compress" not in (compiler.folder / "bin" / "runs").read_text()


def test_ninja_learns_what_was_read(compiler: Compiler) -> None:
    """A file that was not compiled has its own release's headers as dependencies."""
    compiler.compile("a")
    compiler.compile("b")
    told = (compiler.folder / "b" / "k.d").read_text()
    assert told.startswith(f"{compiler.folder}/b/k.o: ")
    assert f"{compiler.folder}/b/include/attention.cuh" in told
    assert f"{compiler.folder}/b/k.cu" in told
    assert f"{compiler.folder}/a" not in told


def test_a_refusal_is_remembered(compiler: Compiler, capfd: pytest.CaptureFixture[str]) -> None:
    """Equal code is refused again at once, in the compiler's words."""
    assert compiler.compile("a", code="refuse") == 1
    first = capfd.readouterr().err
    assert compiler.compile("b", code="refuse") == 1
    assert "1 error detected" in first
    assert capfd.readouterr().err == first
    assert compiler.runs == 1


def test_another_failure_is_not_remembered(compiler: Compiler) -> None:
    """What was killed is tried again, and nothing is kept of it."""
    assert compiler.compile("a", code="crash") == 1
    assert compiler.compile("b", code="crash") == 1
    assert compiler.runs == 2
    assert list(compiler.store.iterdir()) == []


def test_what_cannot_be_preprocessed_goes_to_the_compiler(compiler: Compiler) -> None:
    """A missing header is nvcc's to complain about."""
    compiler.compile("a", code='#include "missing.h"')
    assert compiler.runs == 1
    assert list(compiler.store.iterdir()) == []


def test_other_calls_are_nvcc_s(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking for the version works as with nvcc, and so does compiling without a store."""
    command = [sys.executable, "-m", "benchmarks.nvcc_once", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "release 13.0\n"
    monkeypatch.delenv("ATTN_OBJECT_STORE")
    assert compiler.compile("a") == 0
    assert compiler.object("a")
    assert list(compiler.store.iterdir()) == []
