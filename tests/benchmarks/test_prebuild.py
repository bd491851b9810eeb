"""The command `prebuild`, with made-up tools."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks import cli, prebuild
from tests.benchmarks.synthetic import stack

STACKS = {
    "v1": stack("v1", pins={"flashinfer-python": "1.0"}),
    "v2": stack("v2", pins={"flashinfer-python": "2.0"}),
    "fa3-only": stack("fa3-only", pins={"fa3-fwd": "0.0.3"}),
}
NVCC = "Cuda compilation tools, release 13.0, V13.0.88\n"


class Tools:
    """Stands for nvcc, cc and the stacks' interpreters; keeps what was called."""

    def __init__(self) -> None:
        self.compiled: list[tuple[list[str], dict[str, str]]] = []
        self.missing: set[str] = set()
        self.headers: list[str] = []
        self.tally = ""
        self.code = 0

    def run(self, command: list[str], **options: Any) -> Any:
        if command[0] in self.missing:
            raise FileNotFoundError(command[0])
        if command[0] == "nvcc":
            return subprocess.CompletedProcess(command, 0, NVCC)
        if command[0] == "cc":
            Path(command[command.index("-o") + 1]).write_text("stub")
            return subprocess.CompletedProcess(command, 0)
        workspace = Path(options["env"]["FLASHINFER_WORKSPACE_BASE"])
        assert (workspace / "libcuda.so").is_file()
        self.compiled.append((command, options["env"]))
        self.headers = sorted(p.name for p in workspace.glob("curand/*"))
        with Path(options["env"]["ATTN_OBJECT_STORE"], "tally.txt").open("a") as file:
            file.write(self.tally)
        return subprocess.CompletedProcess(command, self.code)


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> Tools:
    tools = Tools()
    monkeypatch.setattr(subprocess, "run", tools.run)
    monkeypatch.setattr(
        prebuild.shutil, "which", lambda name: None if name in tools.missing else f"/bin/{name}"
    )
    monkeypatch.setattr(prebuild, "find_stack", STACKS.__getitem__)
    monkeypatch.setattr(
        prebuild,
        "ensure_environment",
        lambda stack, wheels: Path(f"/env/{stack.tag}{wheels or ''}"),
    )
    return tools


def test_each_stack_compiles_in_its_environment(tools: Tools, tmp_path: Path) -> None:
    """One process a stack, with its interpreter, folder and toolchain."""
    target = tmp_path / "a" / "modules"
    folder = tmp_path / "wheels"
    folder.mkdir()
    wheels = ["--wheels", str(folder)]
    assert cli.main(["prebuild", "v1", "v2", "--to", str(target), *wheels]) == 0
    assert target.is_dir()
    for (command, _), tag, name in zip(tools.compiled, ("v1", "v2"), ("1.0", "2.0"), strict=True):
        program = [f"/env/{tag}{folder}", "-m", "benchmarks.compile_modules", str(target)]
        assert command == [*program, "--name", name, "--toolchain", "nvcc 13.0.88 9.0a"]


def test_the_build_s_environment(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Architecture and jobs as asked, the stub before other libraries, no path of the caller."""
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("LIBRARY_PATH", "/mine")
    monkeypatch.setenv("CUDA_HOME", "/cuda")
    options = ["--arch", "10.0a", "--jobs", "3"]
    assert cli.main(["prebuild", "v1", "--to", str(tmp_path), *options]) == 0
    ((command, environment),) = tools.compiled
    assert command[-1] == "nvcc 13.0.88 10.0a"
    assert environment["FLASHINFER_CUDA_ARCH_LIST"] == "10.0a"
    assert environment["MAX_JOBS"] == "3"
    assert "PYTHONPATH" not in environment
    first, *others = environment["LIBRARY_PATH"].split(":")
    assert first == environment["FLASHINFER_WORKSPACE_BASE"]
    assert others == ["/cuda/lib64", "/cuda/lib", "/mine"]
    assert environment["PATH"] == os.environ["PATH"]


def test_the_nvidia_wheels_headers_are_offered(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A toolkit without cuRAND's headers finds those beside torch, and no others of there."""
    headers = tmp_path / "site" / "nvidia" / "cu13" / "include"
    headers.mkdir(parents=True)
    for name in ("curand.h", "curand_kernel.h", "cuda_runtime.h"):
        (headers / name).write_text(name)
    monkeypatch.setattr(prebuild, "host_site_packages", lambda: (str(tmp_path / "site"),))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    cli.main(["prebuild", "v1", "--to", str(tmp_path / "modules")])
    assert tools.headers == ["curand.h", "curand_kernel.h"]


def test_a_toolkit_s_own_headers_are_enough(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the toolkit has cuRAND, no other folder is offered."""
    (tmp_path / "cuda" / "include").mkdir(parents=True)
    (tmp_path / "cuda" / "include" / "curand.h").write_text("")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    monkeypatch.delenv("CPATH", raising=False)
    cli.main(["prebuild", "v1", "--to", str(tmp_path / "modules")])
    assert tools.compiled[0][1]["CPATH"] == ""


def test_releases_share_a_store_of_objects(
    tools: Tools, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A front stands between FlashInfer and nvcc, and the end says what it saved this time."""
    target = tmp_path / "modules"
    (target / ".objects").mkdir(parents=True)
    (target / ".objects" / "tally.txt").write_text("compiled before\n")
    tools.tally = "compiled k1\nreused k1\nreused k2\n"
    assert cli.main(["prebuild", "v1", "--to", str(target)]) == 0
    environment = tools.compiled[0][1]
    assert environment["ATTN_OBJECT_STORE"] == str(target / ".objects")
    assert environment["FLASHINFER_NVCC"].endswith("/env/v1 -m benchmarks.nvcc_once")
    told = "1 source files compiled, 2 taken from equal ones before\n"
    assert capsys.readouterr().out == told


def test_a_stack_without_flashinfer_has_nothing_to_build(
    tools: Tools, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is named and passed over."""
    assert cli.main(["prebuild", "fa3-only", "--to", str(tmp_path)]) == 0
    assert tools.compiled == []
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "fa3-only pins no flashinfer-python: nothing to build"


@pytest.mark.parametrize(
    ("tool", "told"), [("nvcc", "needs nvcc"), ("cc", "needs a C compiler that links, as cc")]
)
def test_a_missing_tool_is_one_line(
    tools: Tools, tmp_path: Path, capsys: pytest.CaptureFixture[str], tool: str, told: str
) -> None:
    """Without nvcc or a C compiler the error says what to install."""
    tools.missing.add(tool)
    assert cli.main(["prebuild", "v1", "--to", str(tmp_path)]) == 2
    told_so = capsys.readouterr().err
    assert told in told_so
    assert told_so.count("\n") == 1
    assert tools.compiled == []


def test_a_build_that_fails_names_its_stack(
    tools: Tools, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first failure ends the command; what was built before stays."""
    tools.code = 1
    assert cli.main(["prebuild", "v1", "v2", "--to", str(tmp_path)]) == 2
    assert "error: cannot prebuild v1" in capsys.readouterr().err
    assert len(tools.compiled) == 1


def test_a_folder_that_cannot_be_made_is_one_line(
    tools: Tools, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file in the folder's place is named."""
    (tmp_path / "file").write_text("")
    assert cli.main(["prebuild", "v1", "--to", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.startswith(f"error: cannot make the folder {tmp_path}/file: ")
    assert tools.compiled == []


def test_an_unknown_stack_comes_before_the_tools(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A typo is found on a machine without nvcc too."""
    monkeypatch.setattr(prebuild.shutil, "which", lambda _: None)
    assert cli.main(["prebuild", "v0.6.01", "--to", str(tmp_path / "new")]) == 2
    assert "did you mean v0.6.1" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_the_stub_is_a_library(tmp_path: Path) -> None:
    """The stub carries the name that the real driver's library has."""
    prebuild._write_stub(tmp_path / "libcuda.so")
    assert b"libcuda.so.1" in (tmp_path / "libcuda.so").read_bytes()
