"""Stack environments: one cached virtual environment for each set of pins.

torch is the host's: the environment sees the site-packages of the interpreter that made it, and
its own pins come before them. `--system-site-packages` would not do: made from an interpreter
that is itself in a virtual environment, it shows only what the base interpreter has.
"""

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path
from typing import Final

from packaging.utils import canonicalize_name

from benchmarks.backends.flashinfer_modules import FAILURE_FILE
from benchmarks.errors import UserError
from benchmarks.paths import ENVIRONMENTS
from benchmarks.slim import SLIMMED, SlimWheel, load_manifest
from benchmarks.stacks import Stack

__all__ = [
    "COMPANIONS",
    "companion_versions",
    "derived_wheels",
    "ensure_environment",
    "existing_folder",
    "host_site_packages",
    "modules_folder",
]

COMPANIONS: Final = ("asv_runner", "msgspec", "pyelftools")
"""What a stack environment needs beside its pins; versions are those of this interpreter."""
_STAMP: Final = "complete.json"
_REMEDY: Final = (
    "check the network, or fill a folder with `python -m benchmarks wheels` and set ATTN_WHEELS"
)
_MODULES_IN_PACKAGE: Final = Path("flashinfer", "data", "aot")


def companion_versions() -> dict[str, str]:
    """Version of each companion that this interpreter has; those it lacks are left out."""
    versions: dict[str, str] = {}
    for name in COMPANIONS:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def ensure_environment(
    stack: Stack,
    *,
    wheels: Path | None = None,
    modules: Path | None = None,
    root: Path = ENVIRONMENTS,
) -> Path:
    """Return the Python executable of a stack's environment, making it if need be.

    Parameters
    ----------
    stack
        Its pins are installed without dependencies, checked by hash.
    wheels
        Folder of wheels to install from, without any network; the environment variable
        ATTN_WHEELS if None, the package index if that is unset too. A slim wheel in it is taken
        if its manifest ties it to the wheel that the stack pins, and with prebuilt modules only.
    modules
        Folder of prebuilt FlashInfer modules, `<modules_folder>/<name>/<name>.so`, that
        FlashInfer then loads without a compiler; ATTN_MODULES if None.
    root
        Where environments are kept.

    Raises
    ------
    UserError
        If a wheel is missing or is not the one the stack names, there is no network, or the
        place cannot be written. Nothing half-made is ever used.
    """
    host = host_site_packages()
    wheels = wheels or _from_environment("ATTN_WHEELS")
    modules = modules or _from_environment("ATTN_MODULES")
    derived = _derived(stack, wheels, modules)
    folder = root / f"{stack.tag}-{_key(stack, host, derived)}"
    python = folder / "bin" / "python"
    try:
        root.mkdir(parents=True, exist_ok=True)
        with _lock(root / f".{folder.name}.lock"):
            if not (folder / _STAMP).is_file():
                shutil.rmtree(folder, ignore_errors=True)
                try:
                    _make(stack, folder, host, wheels, derived)
                except BaseException:
                    shutil.rmtree(folder, ignore_errors=True)
                    raise
            _link_modules(stack, folder, modules)
    except OSError as error:
        msg = f"cannot make the environment of {stack.tag}: {error}"
        raise UserError(msg) from error
    return python


def existing_folder(text: str) -> Path:
    """Return the folder that a command-line option names.

    Looked at even where an environment is made already and nothing would be taken from there.

    Raises
    ------
    argparse.ArgumentTypeError
        If there is none.
    """
    if not Path(text).is_dir():
        msg = f"there is no folder {text}"
        raise argparse.ArgumentTypeError(msg)
    return Path(text)


def host_site_packages() -> tuple[str, ...]:
    """Directories of installed packages that this interpreter sees, in its order.

    Taken from the running path, so that the parents of an environment made by this module, of
    any other layered one, and a folder that pip filled with --target are in it.
    """
    seen = [p for p in sys.path if p and any(Path(p).glob("*.dist-info"))]
    return tuple(dict.fromkeys(seen))


def modules_folder(stack: Stack) -> str:
    """Return the name of the folder of a stack's prebuilt modules.

    The FlashInfer version, and for a local wheel its hash too: commits share versions.
    """
    version = stack.pins["flashinfer-python"]
    local = [w for w in stack.wheels["flashinfer-python"] if w.path]
    return f"{version}-{local[0].sha256[:12]}" if local else version


def _from_environment(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value).resolve() if value else None


def derived_wheels() -> dict[str, str]:
    """Return the slim wheels that the running interpreter's environment was made from.

    By file name, the SHA-256 of each; none where originals were installed, or no stack at all.
    """
    try:
        stamp = json.loads((Path(sys.prefix) / _STAMP).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return dict(stamp.get("derived", {}))


def _derived(stack: Stack, wheels: Path | None, modules: Path | None) -> dict[str, SlimWheel]:
    """Return the slim wheels that are to stand for wheels which the stack pins."""
    pinned = {w.file: w.sha256 for w in stack.wheels.get(SLIMMED, ())}
    manifest = load_manifest(wheels) if wheels else {}
    found = {file: slim for file, slim in manifest.items() if file in pinned}
    for file, slim in found.items():
        if slim.original != pinned[file]:
            msg = f"{wheels}/{file} was derived from another wheel than {stack.tag} pins"
            raise UserError(msg)
    if found and not (modules and (modules / modules_folder(stack)).is_dir()):
        msg = (
            f"{wheels} has a slim wheel for {stack.tag}, which runs with prebuilt modules only: "
            "set ATTN_MODULES to a folder that has them"
        )
        raise UserError(msg)
    return found


def _key(stack: Stack, host: tuple[str, ...], derived: Mapping[str, SlimWheel]) -> str:
    slim = sorted(wheel.sha256 for wheel in derived.values())
    parts = [stack.digest, sys.version, sys.prefix, *host, *slim]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(
    stack: Stack,
    folder: Path,
    host: tuple[str, ...],
    wheels: Path | None,
    derived: Mapping[str, SlimWheel],
) -> None:
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    (_site_packages(folder) / "host.pth").write_text("\n".join(host) + "\n", encoding="utf-8")
    requirements = stack.requirements()
    for slim in derived.values():
        requirements = requirements.replace(slim.original, slim.sha256)
    _install(stack, folder, requirements, wheels, hashes=True)
    missing = _missing_companions(host)
    if missing:
        _install(stack, folder, missing, wheels, hashes=False)
    facts = {
        "tag": stack.tag,
        "digest": stack.digest,
        "python": sys.version,
        "host": list(host),
        "derived": {file: slim.sha256 for file, slim in derived.items()},
    }
    (folder / _STAMP).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def _site_packages(folder: Path) -> Path:
    variables = {"base": str(folder), "platbase": str(folder)}
    return Path(sysconfig.get_path("purelib", "venv", variables))


def _missing_companions(host: tuple[str, ...]) -> str:
    visible = {canonicalize_name(d.name) for d in distributions(path=list(host))}
    exact = companion_versions().items()
    return "".join(f"{n}=={v}\n" for n, v in exact if canonicalize_name(n) not in visible)


def _install(
    stack: Stack, folder: Path, requirements: str, wheels: Path | None, *, hashes: bool
) -> None:
    listed = folder / "requirements.txt"
    listed.write_text(requirements, encoding="utf-8")
    command = [_uv(), "pip", "install", "--quiet", "--no-config", "--no-deps"]
    command += ["--python", str(folder / "bin" / "python"), "--only-binary", ":all:"]
    command += ["--require-hashes"] if hashes else []
    command += _source(wheels)
    command += ["--requirements", str(listed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        where = f"from {wheels}" if wheels else "from the package index"
        msg = f"cannot install {stack.tag} {where}: {_reason(done.stderr)}; {_REMEDY}"
        raise UserError(msg)


def _uv() -> str:
    try:
        import uv

        return str(uv.find_uv_bin())
    except (ImportError, FileNotFoundError) as error:
        found = shutil.which("uv")
        if found is None:
            msg = "stack environments need uv: `pip install uv`"
            raise UserError(msg) from error
        return found


def _source(wheels: Path | None) -> list[str]:
    if wheels is not None:
        if not wheels.is_dir():
            msg = f"there is no folder of wheels {wheels}"
            raise UserError(msg)
        return ["--offline", "--no-index", "--find-links", str(wheels)]
    index = os.environ.get("PIP_INDEX_URL")
    return ["--default-index", index] if index else []


def _reason(stderr: str) -> str:
    """Return what uv says in one line: the error, and its last cause."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("error:", "cause:"))]
    words = [line.split(":", 1)[1].strip().rstrip(".") for line in telling] or lines[-1:]
    return ": ".join(dict.fromkeys([*words[:1], *words[-1:]])) or "uv says nothing"


def _link_modules(stack: Stack, folder: Path, modules: Path | None) -> None:
    if modules is None or "flashinfer-python" not in stack.pins:
        return
    if not modules.is_dir():
        msg = f"there is no folder of prebuilt modules {modules}"
        raise UserError(msg)
    package = _site_packages(folder) / _MODULES_IN_PACKAGE
    for built in sorted((modules / modules_folder(stack)).glob("*/*")):
        # A module, or the note that its sources do not compile.
        if built.name in {f"{built.parent.name}.so", FAILURE_FILE}:
            target = package / built.parent.name / built.name
            if target.is_symlink() and target.readlink() == built.resolve():
                continue  # Another process may be loading it just now.
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            target.symlink_to(built.resolve())
