"""What this process can import, and where it runs."""

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.measure import host
from benchmarks.measure.host import WrongVersionError, fingerprint, load_libraries, machine_name

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a made-up FlashInfer into a made-up environment that this process then sees first."""

    def put(version: str, code: str = "", into: str = "env", module: bool = True) -> Path:  # noqa: FBT001, FBT002
        root = tmp_path / into
        facts = root / f"flashinfer_python-{version}.dist-info"
        facts.mkdir(parents=True)
        (facts / "METADATA").write_text(f"Name: flashinfer-python\nVersion: {version}\n")
        if module:
            (root / "flashinfer.py").write_text(code)
        monkeypatch.syspath_prepend(root)
        monkeypatch.setattr(sys, "prefix", str(tmp_path / "env"))
        monkeypatch.delitem(sys.modules, "flashinfer", raising=False)
        importlib.invalidate_caches()
        return root

    yield put
    sys.modules.pop("flashinfer", None)


def test_pinned_versions_are_those_installed(install: Install) -> None:
    """What is pinned, installed and of this version is recorded as such."""
    install("0.6.1", "__version__ = '0.6.1'")
    libraries = load_libraries({"flashinfer-python": "0.6.1"}, gpu=True)
    assert libraries.versions == {"flashinfer-python": "0.6.1"}
    assert libraries.problems == {}
    assert libraries.can_run("flashinfer-python")


@pytest.mark.parametrize("gpu", [True, False])
def test_another_version_is_never_measured(install: Install, *, gpu: bool) -> None:
    """A stack whose installed version is not its pin raises, naming both."""
    install("0.6.2")
    with pytest.raises(WrongVersionError, match=r"pins flashinfer-python==0\.6\.1 but 0\.6\.2 is"):
        load_libraries({"flashinfer-python": "0.6.1"}, gpu=gpu)


def test_a_missing_pin_is_never_measured() -> None:
    """A pinned distribution that is not installed raises too."""
    with pytest.raises(WrongVersionError, match=r"pins fa3-fwd==9\.9 but none is installed in"):
        load_libraries({"fa3-fwd": "9.9"}, gpu=False)


def test_a_module_that_says_otherwise_is_never_measured(install: Install) -> None:
    """The imported module's own version is the last word."""
    install("0.6.1", "__version__ = '0.6.2'")
    with pytest.raises(WrongVersionError, match=r"says it is 0\.6\.2, the stack pins 0\.6\.1"):
        load_libraries({"flashinfer-python": "0.6.1"}, gpu=True)


@pytest.mark.parametrize("gpu", [True, False])
def test_a_module_from_outside_is_never_measured(install: Install, *, gpu: bool) -> None:
    """A package of the right version from another environment raises, with its place."""
    root = install("0.6.1", into="elsewhere")
    with pytest.raises(WrongVersionError, match=f"{root}.*outside the stack's environment"):
        load_libraries({"flashinfer-python": "0.6.1"}, gpu=gpu)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise ImportError('libcudart.so.13: no such file')", "ImportError: libcudart.so.13: no"),
        ("raise OSError('bad ELF\\nsecond line')", "OSError: bad ELF"),
        ("raise RuntimeError('torch is too old')", "RuntimeError: torch is too old"),
        ("raise ImportError", "ImportError"),
    ],
)
def test_a_library_that_cannot_be_imported_is_a_problem(
    install: Install, code: str, told: str
) -> None:
    """Whatever it raises becomes the one-line reason of its own cells, not of the round."""
    install("0.6.1", code)
    libraries = load_libraries({"flashinfer-python": "0.6.1"}, gpu=True)
    problem = libraries.problems["flashinfer-python"]
    assert problem.startswith(f"flashinfer-python 0.6.1 cannot be imported: {told}")
    assert "\n" not in problem
    assert not libraries.can_run("flashinfer-python")


def test_nothing_is_imported_without_a_gpu(install: Install) -> None:
    """On a host without a GPU the libraries are only looked up."""
    install("0.6.1", "raise AssertionError")
    assert load_libraries({"flashinfer-python": "0.6.1"}, gpu=False).problems == {}


def test_a_distribution_without_its_module_is_a_problem(install: Install) -> None:
    """Metadata alone is no library."""
    install("0.6.1", module=False)
    problems = load_libraries({"flashinfer-python": "0.6.1"}, gpu=True).problems
    assert problems == {"flashinfer-python": "flashinfer-python 0.6.1 has no module flashinfer"}


def test_without_torch_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host where torch cannot be found is a CPU without torch, and nothing is raised."""

    class Blocker:
        @staticmethod
        def find_spec(name: str, *_: Any) -> None:
            if name.partition(".")[0] == "torch":
                raise ModuleNotFoundError(name)

    find = importlib.util.find_spec
    monkeypatch.setattr(
        host.importlib.util, "find_spec", lambda name: None if name == "torch" else find(name)
    )
    monkeypatch.setattr(sys, "meta_path", [Blocker, *sys.meta_path])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert host.has_gpu() is False
    libraries = load_libraries({}, gpu=False)
    assert (libraries.has_torch, libraries.has_gpu) == (False, False)


def test_a_cpu_is_fingerprinted_as_such() -> None:
    """Without a GPU nothing is claimed about one."""
    machine = fingerprint(None, gpu=False)
    assert (machine.name, machine.gpu, machine.gpu_uuid, machine.sm_count) == ("cpu", "cpu", "", 0)
    assert (machine.driver, machine.cuda, machine.nvcc) == ("", "", "")
    assert machine.python == sys.version.split()[0]
    assert fingerprint("mine", gpu=False).name == "mine"


def test_a_gpu_is_fingerprinted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Card, driver and toolkit come from torch, nvidia-smi and nvcc."""
    card = SimpleNamespace(name="NVIDIA H200", uuid="12-34", multi_processor_count=132)
    torch = SimpleNamespace(
        cuda=SimpleNamespace(get_device_properties=lambda _: card),
        version=SimpleNamespace(cuda="13.0"),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)  # type: ignore[arg-type]

    def run(command: tuple[str, ...], **_: Any) -> Any:
        printed = {
            "nvidia-smi": "580.65.06\n",
            "nvcc": "Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0\n",
        }
        return SimpleNamespace(stdout=printed[command[0]])

    monkeypatch.setattr(subprocess, "run", run)
    machine = fingerprint(None, gpu=True)
    assert (machine.name, machine.gpu, machine.sm_count) == ("h200", "NVIDIA H200", 132)
    assert (machine.gpu_uuid, machine.driver) == ("GPU-12-34", "580.65.06")
    assert (machine.cuda, machine.nvcc) == ("13.0", "13.0.88")


@pytest.mark.parametrize("failure", [FileNotFoundError, subprocess.TimeoutExpired("nvcc", 20)])
def test_a_tool_that_is_missing_or_stuck_tells_nothing(
    monkeypatch: pytest.MonkeyPatch, failure: Any
) -> None:
    """A host without nvcc has an empty version, not an error."""

    def run(*_: Any, **__: Any) -> Any:
        raise failure

    monkeypatch.setattr(subprocess, "run", run)
    assert host._output("(.*)", "nvcc", "--version") == ""


@pytest.mark.parametrize(
    ("gpu", "name"),
    [("NVIDIA H200", "h200"), ("NVIDIA H100 80GB HBM3", "h100-80gb-hbm3"), ("", "cpu")],
)
def test_machine_names(gpu: str, name: str) -> None:
    """The model without its maker, fit for a folder."""
    assert machine_name(gpu) == name
