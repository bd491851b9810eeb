"""Which stack holds the pins that a pull request names."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import cli
from benchmarks.errors import UserError
from benchmarks.index import Index
from benchmarks.pinned import find_pinned, make_pinned, parse_pins
from benchmarks.stacks import Stack, load_stacks
from tests.benchmarks.synthetic import stack, wheel
from tests.benchmarks.test_index import FA3, FLASHINFER, TVM, FakeClient, file


@pytest.fixture(scope="module")
def published() -> tuple[Stack, ...]:
    return load_stacks(adhoc=Path("/nonexistent/adhoc"))


@pytest.mark.parametrize(
    ("pins", "tag"),
    [
        ({"flashinfer-python": "0.6.0"}, "v0.6.0"),
        ({"flashinfer-python": "0.6.0", "fa3-fwd": "0.0.3"}, "v0.6.0"),
        ({"flashinfer-python": "0.6.0.0"}, "v0.6.0"),
        ({"fa3-fwd": "0.0.3"}, "fa3-fwd-0.0.3"),
        ({"flashinfer-python": "0.6.0", "fa3-fwd": "0.0.2"}, None),
        ({"flashinfer-python": "99.0"}, None),
    ],
)
def test_pins_find_their_published_stack(
    pins: dict[str, str], tag: str | None, published: tuple[Stack, ...]
) -> None:
    """The stack with the fewest other pins counts, versions are compared as versions."""
    found = find_pinned(pins, published)
    assert (found and found.tag) == tag


def test_a_local_wheel_of_that_version_is_not_the_release() -> None:
    """A wheel that somebody built has the version number of a release and other code."""
    local = replace(
        stack("mine", pins={"flashinfer-python": "0.6.0"}),
        wheels={"flashinfer-python": (wheel("flashinfer-python", "0.6.0", path="/w.whl"),)},
    )
    assert find_pinned({"flashinfer-python": "0.6.0"}, (local,)) is None


@pytest.mark.parametrize(
    ("pins", "told"),
    [
        (["flashinfer-python"], "wrong version"),
        (["flashinfer-python==0.6.0;id"], "wrong version"),
        (["flashinfer-python==$(id)"], "wrong version"),
        (["flash infer==1"], "wrong name"),
        (["torch==2.0"], "no library that this suite measures"),
        (["apache-tvm-ffi==0.1.7"], "alone measures nothing"),
        (["fa3-fwd==0.0.2", "fa3_fwd==0.0.3"], "pinned twice: 0.0.2 and 0.0.3"),
    ],
)
def test_what_is_no_pin_of_a_measured_library_is_refused(pins: list[str], told: str) -> None:
    """Each wrong pin gets one line that names it."""
    with pytest.raises(UserError, match=re.escape(told)):
        parse_pins(pins)


def test_two_libraries_make_a_stack_of_published_releases(published: tuple[Stack, ...]) -> None:
    """Where no published stack has both, wheels and hashes of the list are put together."""
    made = make_pinned(
        Index(FakeClient()), {"flashinfer-python": "0.6.0", "fa3-fwd": "0.0.2"}, published
    )
    assert made.tag == "pins-v0.6.0_fa3-fwd-0.0.2"
    assert made.ad_hoc
    assert dict(made.pins) == {
        "flashinfer-python": "0.6.0",
        "fa3-fwd": "0.0.2",
        "apache-tvm-ffi": "0.1.7",
    }
    of_fa3 = next(s for s in published if s.tag == "fa3-fwd-0.0.2")
    assert made.wheels["fa3-fwd"] == of_fa3.wheels["fa3-fwd"]
    assert made.cuda["fa3-fwd"] == of_fa3.cuda["fa3-fwd"] == "12"


def test_a_release_that_is_not_listed_yet_comes_from_the_index() -> None:
    """It is completed like a published one, by hash, and its tag cannot clash with a later one."""
    index = Index(
        FakeClient(file(FLASHINFER, "0.6.1", 8), FA3, *TVM, v0_6_1="apache-tvm-ffi>=0.1.6")
    )
    made = make_pinned(index, {FLASHINFER: "0.6.1"}, ())
    assert made.tag == "pins-v0.6.1"
    assert dict(made.pins) == {FLASHINFER: "0.6.1", "fa3-fwd": "0.0.3", "apache-tvm-ffi": "0.1.7"}
    assert "--hash=sha256:" in made.requirements()
    assert find_pinned({FLASHINFER: "0.6.1"}, (made,)) == made


def test_an_unknown_version_is_refused() -> None:
    """The index is asked, and says that there is no such release."""
    index = Index(FakeClient(file(FLASHINFER, "0.6.1", 8)))
    with pytest.raises(UserError, match=r"no wheel of flashinfer-python==99\.0 "):
        make_pinned(index, {FLASHINFER: "99.0"}, ())


def test_the_command_prints_the_tag_and_keeps_what_it_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stdout is the tag alone, for a script; asked again, it finds the stack."""
    for place in ("pinned", "stacks"):
        monkeypatch.setattr(f"benchmarks.{place}.ADHOC", tmp_path)
    monkeypatch.setattr("benchmarks.pinned.load_stacks", lambda: load_stacks(adhoc=tmp_path))
    argv = ["stacks", "pins", "flashinfer-python==0.6.0", "fa3-fwd==0.0.2"]
    tag = "pins-v0.6.0_fa3-fwd-0.0.2\n"
    assert cli.main(argv) == 0
    first = capsys.readouterr()
    assert first.out == tag
    assert "made the ad-hoc stack" in first.err
    assert cli.main(argv) == 0
    assert capsys.readouterr() == (tag, "")
