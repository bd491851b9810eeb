"""The package index: releases, what they need, and their wheels."""

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.parser import HeaderParser
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import requests
from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version
from pypi_simple import (
    PYPI_SIMPLE_ENDPOINT,
    DigestMismatchError,
    DistributionPackage,
    NoDigestsError,
    NoMetadataError,
    NoSuchProjectError,
    ProjectPage,
    PyPISimple,
)

from benchmarks.errors import UserError
from benchmarks.stacks import Wheel

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["Client", "Index", "Release", "is_usable", "open_index"]

_PYTHONS: Final = (11, 12, 13)
_ARCHITECTURES: Final = ("_x86_64", "_aarch64")
_TIMEOUT_S: Final = 60
_PARTIAL_CONTENT: Final = 206


class Client(Protocol):
    """What is used of `pypi_simple.PyPISimple`; tests hand in their own."""

    def get_project_page(self, project: str) -> ProjectPage:
        """Return all files of a project."""

    def get_package_metadata(self, pkg: DistributionPackage) -> str:
        """Return a wheel's METADATA, or raise `NoMetadataError`."""

    def download_package(self, pkg: DistributionPackage, path: Path) -> None:
        """Save a file after checking its hash."""


@dataclass(frozen=True, slots=True)
class Release:
    """One release of a distribution on the index.

    Attributes
    ----------
    name, version
        As the index writes them.
    time
        UTC, when its first usable wheel was uploaded, to the second.
    wheels
        Wheels for Linux on the supported Pythons, sorted by name.
    yanked
        Whether the index advises against it.
    """

    name: str
    version: str
    time: datetime
    wheels: tuple[Wheel, ...]
    yanked: bool

    @property
    def prerelease(self) -> bool:
        """Whether it is an alpha, beta, release candidate or development release."""
        return Version(self.version).is_prerelease


def _admits(tag: Tag) -> bool:
    linux = tag.platform.startswith(("manylinux", "linux_"))
    if tag.platform != "any" and not (linux and tag.platform.endswith(_ARCHITECTURES)):
        return False
    if tag.interpreter == "py3":
        return tag.abi == "none"
    minor = tag.interpreter.removeprefix("cp3")
    if not tag.interpreter.startswith("cp3") or not minor.isdigit():
        return False
    if tag.abi == "abi3":
        return int(minor) <= max(_PYTHONS)
    return int(minor) in _PYTHONS and tag.abi in {tag.interpreter, "none"}


def is_usable(file: str) -> bool:
    """Whether a file is a wheel for Linux (x86_64 or aarch64) on a supported CPython."""
    try:
        tags = parse_wheel_filename(file)[3]
    except (InvalidWheelFilename, InvalidVersion):
        return False
    return any(_admits(tag) for tag in tags)


class Index:
    """Reads a package index; every failure is a one-line `UserError`.

    Parameters
    ----------
    client
        Where pages and files come from.
    read_remote
        Reads the METADATA of a wheel out of the wheel itself, for an index without PEP 658.
    """

    def __init__(self, client: Client, read_remote: Callable[[str], str] | None = None) -> None:
        self._client = client
        self._read_remote = read_remote or _metadata_in_wheel
        self._pages: dict[str, list[DistributionPackage]] = {}

    def load_releases(self, name: str) -> tuple[Release, ...]:
        """Return the releases of a distribution that have a usable wheel, oldest version first.

        Raises
        ------
        UserError
            If the index cannot be reached or has no such project.
        """
        by_version: dict[str, list[DistributionPackage]] = {}
        for file in self._files(name):
            by_version.setdefault(str(file.version), []).append(file)
        releases = [_release(name, version, files) for version, files in by_version.items()]
        return tuple(sorted(releases, key=lambda release: Version(release.version)))

    def load_release(self, name: str, version: str) -> Release:
        """Return one release.

        Raises
        ------
        UserError
            If there is none with a usable wheel.
        """
        for release in self.load_releases(name):
            if Version(release.version) == Version(version):
                return release
        msg = f"the package index has no wheel of {name}=={version} for Linux and CPython 3.11-3.13"
        raise UserError(msg)

    def load_requirements(self, release: Release) -> tuple[str, ...]:
        """Return the Requires-Dist lines of a release.

        Raises
        ------
        UserError
            If the index gives neither the metadata nor a part of the wheel.
        """
        file = self._file(release.name, release.wheels[0])
        with _one_line(f"cannot read what {file.filename} requires"):
            try:
                text = self._client.get_package_metadata(file)
            except (NoMetadataError, NoDigestsError):
                text = self._read_remote(file.url)
        return tuple(HeaderParser().parsestr(text).get_all("Requires-Dist", []))

    def download(self, name: str, wheel: Wheel, directory: Path) -> Path:
        """Save a wheel in a directory, unless it is there already.

        Raises
        ------
        UserError
            If it cannot be had, or is not the file that the stack names.
        """
        file = self._file(name, wheel)
        if file.digests.get("sha256") != wheel.sha256:
            msg = f"{wheel.file} on the package index is not the file that the stack names: sha256"
            raise UserError(msg)
        target = directory / wheel.file
        if not target.exists():
            with _one_line(f"cannot download {wheel.file}"):
                self._client.download_package(file, target)
        return target

    def _file(self, name: str, wheel: Wheel) -> DistributionPackage:
        for file in self._files(name):
            if file.filename == wheel.file:
                return file
        msg = f"the package index has no {wheel.file}"
        raise UserError(msg)

    def _files(self, name: str) -> list[DistributionPackage]:
        project = canonicalize_name(name)
        if project not in self._pages:
            with _one_line(f"cannot look up {name} on the package index"):
                page = self._client.get_project_page(project)
            self._pages[project] = [
                f for f in page.packages if f.upload_time and is_usable(f.filename)
            ]
        return self._pages[project]


def _release(name: str, version: str, files: list[DistributionPackage]) -> Release:
    times = [file.upload_time for file in files if file.upload_time]
    wheels = sorted((Wheel(f.filename, f.digests["sha256"]) for f in files), key=lambda w: w.file)
    return Release(
        name,
        version,
        min(times).astimezone(UTC).replace(microsecond=0),
        tuple(wheels),
        all(file.is_yanked for file in files),
    )


@contextmanager
def _one_line(what: str) -> Iterator[None]:
    try:
        yield
    except NoSuchProjectError as error:
        msg = f"{what}: there is no such project"
        raise UserError(msg) from error
    except DigestMismatchError as error:
        msg = f"{what}: its hash is not the one the index states"
        raise UserError(msg) from error
    except (requests.RequestException, zipfile.BadZipFile, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        msg = f"{what}: {reason}; check the network and PIP_INDEX_URL"
        raise UserError(msg) from error


class _RemoteFile(io.RawIOBase):
    """A file on a web server, read in ranges: a wheel's METADATA without the whole wheel."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._at = 0
        head = requests.head(url, allow_redirects=True, timeout=_TIMEOUT_S)
        head.raise_for_status()
        self._size = int(head.headers["Content-Length"])

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = start + offset
        return self._at

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer).cast("B")
        end = min(self._at + len(view), self._size)
        if self._at >= end:
            return 0
        span = {"Range": f"bytes={self._at}-{end - 1}"}
        reply = requests.get(self._url, headers=span, timeout=_TIMEOUT_S)
        reply.raise_for_status()
        if reply.status_code != _PARTIAL_CONTENT:
            msg = "the server sends neither metadata nor parts of a file"
            raise OSError(msg)
        view[: len(reply.content)] = reply.content
        self._at += len(reply.content)
        return len(reply.content)


def _metadata_in_wheel(url: str) -> str:
    remote = io.BufferedReader(_RemoteFile(url), buffer_size=64 * 1024)
    with zipfile.ZipFile(remote) as archive:
        names = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        return archive.read(names[0]).decode()


@contextmanager
def open_index() -> Iterator[Index]:
    """Open the index named by PIP_INDEX_URL, or the default one."""
    endpoint = os.environ.get("PIP_INDEX_URL") or PYPI_SIMPLE_ENDPOINT
    with PyPISimple(endpoint) as client:
        yield Index(client)
