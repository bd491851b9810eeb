"""The package index: which files count, what a release is, and what it needs."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import requests
from pypi_simple import (
    DistributionPackage,
    NoMetadataError,
    NoSuchProjectError,
    ProjectPage,
)

from benchmarks.adhoc import sha256_of
from benchmarks.companions import make_stack
from benchmarks.errors import UserError
from benchmarks.index import Index, is_usable
from benchmarks.stacks import Stack, Wheel
from benchmarks.wheelhouse import fill
from tests.benchmarks.synthetic import stack

PYTHON_WHEEL = "-py3-none-any.whl"


def file(
    project: str, version: str, day: int, tail: str = PYTHON_WHEEL, *, yanked: bool = False
) -> DistributionPackage:
    name = f"{project.replace('-', '_')}-{version}{tail}"
    return DistributionPackage(
        filename=name,
        project=project,
        version=version,
        package_type="wheel",
        url=f"https://index.invalid/{name}",
        digests={"sha256": f"{day:064x}"},
        requires_python=None,
        has_sig=None,
        is_yanked=yanked,
        upload_time=datetime(2026, 1, day, 3, 4, 5, 678901, tzinfo=UTC),
    )


class FakeClient:
    """An index in memory; `requires` are the METADATA files it serves."""

    def __init__(self, *files: DistributionPackage, **requires: str) -> None:
        self.files = files
        self.requires = requires
        self.downloads: list[str] = []

    def get_project_page(self, project: str) -> ProjectPage:
        found = [f for f in self.files if f.project == project]
        if not found:
            raise NoSuchProjectError(project, "https://index.invalid")
        return ProjectPage(project, found, None, None)

    def get_package_metadata(self, pkg: DistributionPackage) -> str:
        line = self.requires.get(f"v{str(pkg.version).replace('.', '_')}")
        if line is None:
            raise NoMetadataError(pkg.filename, pkg.metadata_url)
        return f"Metadata-Version: 2.1\nName: x\nRequires-Dist: numpy\nRequires-Dist: {line}\n"

    def download_package(self, pkg: DistributionPackage, path: Path) -> None:
        self.downloads.append(pkg.filename)
        path.write_bytes(pkg.filename.encode())


FLASHINFER = "flashinfer-python"
FA3 = file("fa3-fwd", "0.0.3", 20, "-cp39-abi3-manylinux_2_24_x86_64.whl")
TVM = tuple(
    file("apache-tvm-ffi", version, day)
    for version, day in (("0.1.7", 1), ("0.1.9", 6), ("0.1.10", 9), ("0.1.11rc1", 9))
)


@pytest.mark.parametrize(
    ("tail", "usable"),
    [
        ("-py3-none-any.whl", True),
        ("-cp39-abi3-manylinux_2_24_x86_64.whl", True),
        ("-cp312-abi3-manylinux2014_aarch64.manylinux_2_17_aarch64.whl", True),
        ("-cp312-cp312-manylinux_2_28_x86_64.whl", True),
        ("-cp313-cp313t-manylinux_2_28_x86_64.whl", False),
        ("-cp310-cp310-manylinux_2_28_x86_64.whl", False),
        ("-cp314-abi3-manylinux_2_28_x86_64.whl", False),
        ("-cp312-cp312-musllinux_1_2_x86_64.whl", False),
        ("-cp312-cp312-macosx_11_0_arm64.whl", False),
        ("-cp312-cp312-win_amd64.whl", False),
        ("-cp312-cp312-manylinux_2_28_ppc64le.whl", False),
        (".tar.gz", False),
    ],
)
def test_usable_wheels(tail: str, usable: bool) -> None:  # noqa: FBT001
    """Wheels for glibc Linux on x86_64 and aarch64 and the supported CPythons count."""
    assert is_usable(f"lib-1.0{tail}") is usable


def test_a_release_has_its_first_upload_time_to_the_second() -> None:
    """The time of a release is that of its first usable wheel; other files do not count."""
    sdist = file("lib", "1.0", 1, ".tar.gz")
    late = file("lib", "1.0", 9, "-cp39-abi3-manylinux_2_24_aarch64.whl")
    early = file("lib", "1.0", 4, "-cp39-abi3-manylinux_2_24_x86_64.whl")
    (release,) = Index(FakeClient(sdist, late, early)).load_releases("lib")
    assert release.time == datetime(2026, 1, 4, 3, 4, 5, tzinfo=UTC)
    assert [w.file for w in release.wheels] == [late.filename, early.filename]


def test_releases_are_sorted_as_versions() -> None:
    """0.10 comes after 0.9."""
    client = FakeClient(file("lib", "0.10", 2), file("lib", "0.9", 1))
    assert [r.version for r in Index(client).load_releases("lib")] == ["0.9", "0.10"]


def test_requirements_come_from_metadata_or_from_the_wheel() -> None:
    """An index that serves no METADATA is asked for a part of the wheel."""
    client = FakeClient(file("lib", "1.0", 1), file("lib", "2.0", 2), v1_0="apache-tvm-ffi<1")
    index = Index(client, lambda url: f"Requires-Dist: read-from-{url.rpartition('/')[2]}\n")
    first, second = index.load_releases("lib")
    assert index.load_requirements(first) == ("numpy", "apache-tvm-ffi<1")
    assert index.load_requirements(second) == ("read-from-lib-2.0-py3-none-any.whl",)


def test_trouble_with_the_index_is_one_line() -> None:
    """An unknown project and a dead network are each one line."""

    class Dead(FakeClient):
        def get_project_page(self, project: str) -> ProjectPage:
            msg = f"no route to host of {project}\nlong story"
            raise requests.ConnectionError(msg)

    with pytest.raises(UserError, match="there is no such project"):
        Index(FakeClient()).load_releases("lib")
    with pytest.raises(UserError, match="no route to host of lib; check the network") as caught:
        Index(Dead()).load_releases("lib")
    assert "\n" not in str(caught.value)


def add(client: FakeClient, version: str, known: tuple[Stack, ...] = ()) -> Stack:
    return make_stack(Index(client), FLASHINFER, version, known)


def test_a_flashinfer_stack_keeps_its_companions_while_they_fit() -> None:
    """FA3 is held, tvm-ffi stays at 0.1.7 as long as the release admits it."""
    made = add(
        FakeClient(file(FLASHINFER, "0.6.1", 8), FA3, *TVM, v0_6_1="apache-tvm-ffi>=0.1,<0.2"),
        "0.6.1",
    )
    assert made.tag == "v0.6.1"
    assert dict(made.pins) == {FLASHINFER: "0.6.1", "fa3-fwd": "0.0.3", "apache-tvm-ffi": "0.1.7"}
    assert made.cuda == {"fa3-fwd": "13"}
    assert made.time == datetime(2026, 1, 8, 3, 4, 5, tzinfo=UTC)


def test_a_new_tvm_ffi_is_the_newest_stable_one_of_that_day() -> None:
    """When the pin no longer fits, later uploads and pre-releases are not candidates."""
    client = FakeClient(file(FLASHINFER, "0.7.0", 8), FA3, *TVM, v0_7_0="apache-tvm-ffi>=0.1.8")
    assert add(client, "0.7.0").pins["apache-tvm-ffi"] == "0.1.9"


def test_a_changed_tvm_ffi_is_kept_by_later_stacks() -> None:
    """The next release stays with the pin of the stack before it, though a newer one exists."""
    before = stack("v0.7.0", 8, {FLASHINFER: "0.7.0", "apache-tvm-ffi": "0.1.9"})
    client = FakeClient(file(FLASHINFER, "0.7.1", 12), FA3, *TVM, v0_7_1="apache-tvm-ffi>=0.1.8")
    assert add(client, "0.7.1", (before,)).pins["apache-tvm-ffi"] == "0.1.9"


def test_another_library_is_pinned_alone() -> None:
    """A step of FA3 changes nothing else, and says which CUDA it is linked to."""
    made = make_stack(Index(FakeClient(FA3)), "fa3-fwd", "0.0.3", (), "13")
    assert made.tag == "fa3-fwd-0.0.3"
    assert dict(made.pins) == {"fa3-fwd": "0.0.3"}
    assert made.cuda == {"fa3-fwd": "13"}


@pytest.mark.parametrize(
    ("version", "complaint"),
    [
        ("0.6.1", "is in the list already, as v0.6.1"),
        ("0.7.0rc1", "is a pre-release"),
        ("0.6.9", "was yanked"),
        ("9.9", "no wheel of flashinfer-python==9.9"),
    ],
)
def test_what_cannot_be_added(version: str, complaint: str) -> None:
    """Duplicates, pre-releases, yanked and unknown releases are refused in one line."""
    client = FakeClient(
        file(FLASHINFER, "0.6.1", 1),
        file(FLASHINFER, "0.7.0rc1", 2),
        file(FLASHINFER, "0.6.9", 3, yanked=True),
    )
    with pytest.raises(UserError, match=complaint):
        add(client, version, (stack("v0.6.1"),))


@pytest.mark.parametrize(
    ("name", "version", "complaint"),
    [
        ("numpy", "1.26.4", "numpy is no library that this suite measures: flashinfer-python, "),
        ("apache-tvm-ffi", "0.1.7", "apache-tvm-ffi is no library that this suite measures"),
        ("torch", "2.11.0", "torch is no library that this suite measures"),
        (FLASHINFER, "abc", "'abc' is no version of flashinfer-python"),
    ],
)
def test_what_is_no_stack(name: str, version: str, complaint: str) -> None:
    """Other libraries, companions and words that are no version are refused without a look-up."""
    with pytest.raises(UserError, match=complaint):
        make_stack(Index(FakeClient(*TVM)), name, version, ())


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    """A file in the place of the folder is named."""
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"cannot make the folder .*/file: File exists"):
        fill(Index(FakeClient()), (), tmp_path / "file", "x86_64")


def test_a_wheelhouse_holds_what_one_processor_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wheels of other processors are left out, and what is there is not fetched again."""
    monkeypatch.setattr("benchmarks.wheelhouse.companion_versions", dict)
    files = [
        file("lib", "1.0", 1, f"-cp39-abi3-manylinux_2_24_{a}.whl") for a in ("x86_64", "aarch64")
    ]
    content = tmp_path / "content"
    content.write_bytes(files[0].filename.encode())
    files[0].digests["sha256"] = sha256_of(content)
    client = FakeClient(*files)
    release = Index(client).load_release("lib", "1.0")
    of = Stack("v1", release.time, {"lib": "1.0"}, {"lib": release.wheels})
    for _ in range(2):
        (only,) = fill(Index(client), (of,), tmp_path / "wheels", "x86_64")
        assert only.name == files[0].filename
    assert client.downloads == [files[0].filename]


def test_a_wheel_with_another_hash_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a file that the index changed nor a damaged local copy gets into the folder."""
    monkeypatch.setattr("benchmarks.wheelhouse.companion_versions", dict)
    client = FakeClient(file("lib", "1.0", 1))
    name = f"lib-1.0{PYTHON_WHEEL}"
    foreign = Stack("v1", datetime.now(UTC), {"lib": "1.0"}, {"lib": (Wheel(name, "f" * 64),)})
    with pytest.raises(UserError, match="not the file that the stack names"):
        fill(Index(client), (foreign,), tmp_path, "x86_64")
    (tmp_path / name).write_text("damaged")
    own = Stack("v1", datetime.now(UTC), {"lib": "1.0"}, {"lib": (Wheel(name, f"{1:064x}"),)})
    with pytest.raises(UserError, match="has another sha256"):
        fill(Index(client), (own,), tmp_path, "x86_64")
