"""Stack environments, made offline from tiny wheels."""

import base64
import hashlib
import subprocess
import sys
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from benchmarks.adhoc import sha256_of
from benchmarks.errors import UserError
from benchmarks.slim import load_manifest, write_slim
from benchmarks.stacks import Stack, Wheel
from benchmarks.venv import ensure_environment, host_site_packages, modules_folder
from tests.benchmarks.synthetic import stack

NAME, VERSION = "flashinfer-python", "0.6.1"


def tiny_wheel(folder: Path, version: str = VERSION, note: str = "") -> Path:
    """Write a wheel with a package `flashinfer` that knows its version."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"flashinfer_python-{version}-py3-none-any.whl"
    info = f"flashinfer_python-{version}.dist-info"
    files = {
        "flashinfer/__init__.py": f"__version__ = {version!r}\n{note}",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},sha256={_digest(text)},{len(text)}\n" for name, text in files.items())
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record + f"{info}/RECORD,,\n"}.items():
            archive.writestr(name, text)
    return path


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def stack_of(path: Path, *, local: bool = False) -> Stack:
    only = Wheel(path.name, sha256_of(path), str(path) if local else "")
    return replace(stack(f"v{VERSION}"), wheels={NAME: (only,)})


def ask(python: Path, code: str) -> str:
    command = [str(python), "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(autouse=True)
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's own settings and caches out of the tests."""
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    for name in ("ATTN_WHEELS", "ATTN_MODULES", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)


def test_an_environment_has_the_pins_and_sees_the_host(tmp_path: Path) -> None:
    """The pinned version is imported, and so is what only the host has installed."""
    of = stack_of(tiny_wheel(tmp_path / "wheels"))
    python = ensure_environment(of, wheels=tmp_path / "wheels", root=tmp_path / "env")
    assert ask(python, "import flashinfer; print(flashinfer.__version__)") == VERSION
    assert ask(python, "import msgspec; print(msgspec.__file__)").startswith(host_site_packages())
    assert ask(python, "import sys; print(sys.prefix)") == str(python.parents[1])


def test_an_environment_made_from_an_environment_sees_the_first_host(tmp_path: Path) -> None:
    """Layers add up: the host of a stack environment that makes another one is not lost."""
    of = stack_of(tiny_wheel(tmp_path / "wheels"))
    outer = ensure_environment(of, wheels=tmp_path / "wheels", root=tmp_path / "env")
    code = "from benchmarks.venv import host_site_packages as h; print(*h(), sep='\\n')"
    seen = ask(outer, f"import sys; sys.path.insert(0, {str(Path.cwd())!r}); {code}").splitlines()
    assert seen[0].startswith(str(outer.parents[1]))
    assert set(host_site_packages()) <= set(seen)


def test_a_made_environment_is_used_again(tmp_path: Path) -> None:
    """The second call needs no wheels: nothing is installed."""
    of = stack_of(tiny_wheel(tmp_path / "wheels"))
    first = ensure_environment(of, wheels=tmp_path / "wheels", root=tmp_path / "env")
    assert ensure_environment(of, wheels=tmp_path / "gone", root=tmp_path / "env") == first


def test_a_half_made_environment_is_made_again(tmp_path: Path) -> None:
    """Without the stamp, what stands there is thrown away."""
    of = stack_of(tiny_wheel(tmp_path / "wheels"))
    python = ensure_environment(of, wheels=tmp_path / "wheels", root=tmp_path / "env")
    (python.parents[1] / "complete.json").unlink()
    (python.parents[1] / "rest").write_text("of an interrupted installation")
    ensure_environment(of, wheels=tmp_path / "wheels", root=tmp_path / "env")
    assert not (python.parents[1] / "rest").exists()


def test_a_wheel_with_another_hash_is_refused(tmp_path: Path) -> None:
    """A file of the right name but other bytes is one clear line, and leaves nothing behind."""
    of = stack_of(tiny_wheel(tmp_path / "wheels"))
    tiny_wheel(tmp_path / "wheels", note="# changed\n")
    with pytest.raises(UserError, match=r"cannot install v0\.6\.1 .*ash mismatch") as caught:
        ensure_environment(of, wheels=tmp_path / "wheels", root=tmp_path / "env")
    assert "\n" not in str(caught.value)
    assert [p for p in (tmp_path / "env").iterdir() if p.is_dir()] == []


def test_a_missing_wheel_is_one_line(tmp_path: Path) -> None:
    """An empty wheel folder, or none, says what is missing and what to do."""
    of = stack_of(tiny_wheel(tmp_path / "elsewhere"))
    (tmp_path / "wheels").mkdir()
    with pytest.raises(UserError, match=r"flashinfer-python.*python -m benchmarks wheels"):
        ensure_environment(of, wheels=tmp_path / "wheels", root=tmp_path / "env")
    with pytest.raises(UserError, match="there is no folder of wheels"):
        ensure_environment(of, wheels=tmp_path / "none", root=tmp_path / "env")


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """A read-only checkout is told by the path that cannot be written, under asv too."""
    (tmp_path / "file").touch()
    of = stack_of(tiny_wheel(tmp_path / "wheels"))
    with pytest.raises(UserError, match=r"the environment of v0\.6\.1: .*/file/env'") as caught:
        ensure_environment(of, wheels=tmp_path / "wheels", root=tmp_path / "file" / "env")
    assert "\n" not in str(caught.value)


def test_no_network_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without wheels and without network the error says so."""
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.invalid/simple")
    with pytest.raises(UserError, match=r"from the package index: .*check the network") as caught:
        ensure_environment(stack_of(tiny_wheel(tmp_path)), root=tmp_path / "env")
    assert "\n" not in str(caught.value)


def test_a_local_wheel_is_installed_from_its_path(tmp_path: Path) -> None:
    """An ad-hoc pin needs no folder of wheels."""
    own = stack_of(tiny_wheel(tmp_path / "own"), local=True)
    (tmp_path / "empty").mkdir()
    python = ensure_environment(own, wheels=tmp_path / "empty", root=tmp_path / "env")
    assert ask(python, "import flashinfer; print(flashinfer.__version__)") == VERSION


def test_prebuilt_modules_land_where_flashinfer_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Modules of this version appear in data/aot, those of another version do not."""
    for version, name in ((VERSION, "fa2"), ("0.6.4", "other")):
        built = tmp_path / "modules" / version / name / f"{name}.so"
        built.parent.mkdir(parents=True)
        built.write_bytes(b"ELF")
    monkeypatch.setenv("ATTN_MODULES", str(tmp_path / "modules"))
    of = stack_of(tiny_wheel(tmp_path / "wheels"))
    python = ensure_environment(of, wheels=tmp_path / "wheels", root=tmp_path / "env")
    package = Path(ask(python, "import flashinfer; print(flashinfer.__file__)")).parent
    found = [str(p.relative_to(package)) for p in package.rglob("*.so")]
    assert found == ["data/aot/fa2/fa2.so"]
    assert (package / found[0]).read_bytes() == b"ELF"


def test_the_host_is_this_interpreter() -> None:
    """The host's directories are site-packages that this process imports from."""
    assert host_site_packages()
    assert set(host_site_packages()) <= set(sys.path)


def test_a_module_that_is_linked_is_left_alone(tmp_path: Path) -> None:
    """A second process makes the same environment ready while the first one may load modules."""
    modules = prebuilt(tmp_path)
    of = stack_of(tiny_wheel(tmp_path / "wheels"))
    make = partial(ensure_environment, of, wheels=tmp_path / "wheels", root=tmp_path / "env")
    (link,) = make(modules=modules).parents[1].rglob("fa2.so")
    before = link.lstat().st_ino
    make(modules=modules)
    assert link.lstat().st_ino == before
    (tmp_path / "modules").rename(tmp_path / "moved")
    make(modules=tmp_path / "moved")
    assert link.read_bytes() == b"ELF"


def prebuilt(tmp_path: Path) -> Path:
    """Make a folder with one module of this version."""
    built = tmp_path / "modules" / VERSION / "fa2" / "fa2.so"
    built.parent.mkdir(parents=True)
    built.write_bytes(b"ELF")
    return tmp_path / "modules"


def slimmed(tmp_path: Path, note: str = "") -> tuple[Stack, Path]:
    """Make a stack that pins a wheel, and a folder with a slim wheel derived from it."""
    original = tiny_wheel(tmp_path / "original")
    of = stack_of(original)
    folder = tmp_path / "slim"
    folder.mkdir()
    write_slim(tiny_wheel(tmp_path / "original", note=note) if note else original, folder)
    return of, folder


def test_a_slim_wheel_is_installed_beside_prebuilt_modules(tmp_path: Path) -> None:
    """It stands for the wheel it was derived from, and the environment says so."""
    of, folder = slimmed(tmp_path)
    python = ensure_environment(
        of, wheels=folder, modules=prebuilt(tmp_path), root=tmp_path / "env"
    )
    assert ask(python, "import flashinfer; print(flashinfer.__version__)") == VERSION
    code = "from benchmarks.venv import derived_wheels as d; print(d())"
    told = ask(python, f"import sys; sys.path.insert(0, {str(Path.cwd())!r}); {code}")
    (file,) = load_manifest(folder)
    assert told == str({file: sha256_of(folder / file)})
    assert of.wheels[NAME][0].sha256 != sha256_of(folder / file)


def test_an_environment_of_the_original_is_another_one(tmp_path: Path) -> None:
    """What was made from a slim wheel is never taken for the whole, which can compile."""
    of, folder = slimmed(tmp_path)
    modules = prebuilt(tmp_path)
    make = partial(ensure_environment, of, modules=modules, root=tmp_path / "env")
    slim = make(wheels=folder)
    whole = make(wheels=tmp_path / "original")
    assert slim != whole
    code = "from benchmarks.venv import derived_wheels as d; print(d())"
    assert ask(whole, f"import sys; sys.path.insert(0, {str(Path.cwd())!r}); {code}") == "{}"


def test_a_slim_wheel_needs_prebuilt_modules(tmp_path: Path) -> None:
    """Without them, or with those of another version, it could not run: nothing is installed."""
    of, folder = slimmed(tmp_path)
    (tmp_path / "modules" / "0.6.4").mkdir(parents=True)
    for modules in (None, tmp_path / "modules"):
        with pytest.raises(UserError, match="runs with prebuilt modules only: set ATTN_MODULES"):
            ensure_environment(of, wheels=folder, modules=modules, root=tmp_path / "env")
    assert not (tmp_path / "env").exists()


def test_a_slim_wheel_of_another_original_is_refused(tmp_path: Path) -> None:
    """Its manifest must tie it to the wheel that the stack pins."""
    of, folder = slimmed(tmp_path, note="# changed\n")
    with pytest.raises(UserError, match=r"was derived from another wheel than v0\.6\.1 pins"):
        ensure_environment(of, wheels=folder, modules=prebuilt(tmp_path), root=tmp_path / "env")


def test_a_slim_wheel_that_was_changed_is_refused(tmp_path: Path) -> None:
    """Its own hash is checked like that of any wheel."""
    of, folder = slimmed(tmp_path)
    tiny_wheel(folder, note="# changed\n")
    with pytest.raises(UserError, match=r"cannot install v0\.6\.1 .*ash mismatch"):
        ensure_environment(of, wheels=folder, modules=prebuilt(tmp_path), root=tmp_path / "env")


def test_modules_of_a_local_wheel_are_its_own() -> None:
    """A commit that shares its version with a release never gets the release's modules."""
    wheel = Wheel("flashinfer_python-0.6.1-py3-none-any.whl", "a" * 64)
    local = Wheel(wheel.file, "b" * 64, "/wheels/" + wheel.file)
    pins, time = {"flashinfer-python": "0.6.1"}, datetime(2026, 1, 1, tzinfo=UTC)
    published = Stack("v0.6.1", time, pins, {"flashinfer-python": (wheel,)})
    built = Stack("mine", time, pins, {"flashinfer-python": (local,)})
    assert modules_folder(published) == "0.6.1"
    assert modules_folder(built) == "0.6.1-" + "b" * 12
