"""Ad-hoc stacks: a wheel the user built, or a git commit of FlashInfer."""

import hashlib
import shutil
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion

from benchmarks.errors import UserError
from benchmarks.paths import ADHOC_WHEELS
from benchmarks.stacks import Stack, Wheel, check_tag

__all__ = ["make_from_git", "make_from_wheel", "sha256_of"]


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_from_wheel(tag: str, wheel: Path, base: Stack | None) -> Stack:
    """Return a stack that pins a wheel file, beside the other pins of a base stack.

    Parameters
    ----------
    tag
        Its name.
    wheel
        Path of the wheel; it is installed from there, so keep it.
    base
        Stack whose other pins are taken over; None pins the wheel alone.

    Raises
    ------
    UserError
        If the tag is unfit or the file is no wheel.
    """
    check_tag(tag)
    path = wheel.expanduser().resolve()
    if not path.is_file():
        msg = f"there is no wheel {wheel}"
        raise UserError(msg)
    try:
        project, version, *_ = parse_wheel_filename(path.name)
    except (InvalidWheelFilename, InvalidVersion) as error:
        msg = f"{path.name} is no wheel file name: {error}"
        raise UserError(msg) from error
    _check_content(path)
    name = canonicalize_name(project)
    local = Wheel(path.name, sha256_of(path), str(path))
    now = datetime.now(UTC).replace(microsecond=0)
    pins, wheels, cuda = ({}, {}, {}) if base is None else (base.pins, base.wheels, base.cuda)
    return Stack(
        tag,
        now,
        {**pins, name: str(version)},
        {**wheels, name: (local,)},
        {key: major for key, major in cuda.items() if key != name},
        ad_hoc=True,
    )


def _check_content(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError) as error:
        msg = f"{path} is no wheel: {error}"
        raise UserError(msg) from error
    if not any(name.endswith(".dist-info/METADATA") for name in names):
        msg = f"{path} is no wheel: it has no METADATA"
        raise UserError(msg)


def make_from_git(tag: str, source: str, base: Stack | None, into: Path = ADHOC_WHEELS) -> Stack:
    """Return a stack that pins a wheel built from a git commit, submodules included.

    Parameters
    ----------
    tag
        Its name.
    source
        `URL@COMMIT`.
    base
        Stack whose other pins are taken over; None pins the wheel alone.
    into
        Directory of built wheels.

    Raises
    ------
    UserError
        If the tag or source is unfit, or the wheel cannot be built.
    """
    url, _, commit = source.rpartition("@")
    if not url or not commit or "/" in commit:
        msg = f"{source!r} is no URL@COMMIT"
        raise UserError(msg)
    target = into / check_tag(tag)
    shutil.rmtree(target, ignore_errors=True)
    address = url if "://" in url else Path(url).expanduser().resolve().as_uri()
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--wheel-dir", str(target), f"git+{address.removeprefix('git+')}@{commit}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    built = sorted(target.glob("*.whl"))
    if done.returncode != 0 or not built:
        msg = f"cannot build a wheel of {source}: {_telling_line(done.stderr)}"
        raise UserError(msg)
    return make_from_wheel(tag, built[-1], base)


def _telling_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for opening in ("fatal:", "ERROR:", "error:"):
        for line in lines:
            if line.startswith(opening):
                return line
    return lines[-1] if lines else "pip says nothing; are pip and git installed?"
