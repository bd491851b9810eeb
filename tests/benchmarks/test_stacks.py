"""Stacks: the published list, its form, look-up and digests."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.errors import UserError
from benchmarks.stacks import (
    Stack,
    check_tag,
    expected_versions,
    find_stack,
    load_stacks,
    parse_stacks,
)
from tests.benchmarks.synthetic import stack, wheel

LIST = f"""
[[stack]]
tag = "v2"
time = 2026-02-01T00:00:00Z
pins = {{lib = "2"}}

[[stack]]
tag = "v1"
time = 2026-01-01T02:00:00+02:00
pins = {{lib = "1"}}

[[release]]
name = "lib"
version = "1"
cuda = "12"
wheels = [{{file = "lib-1-py3-none-any.whl", sha256 = "{"a" * 64}"}}]

[[release]]
name = "lib"
version = "2"
wheels = [{{file = "lib-2-py3-none-any.whl", sha256 = "{"b" * 64}"}}]
"""


@pytest.fixture(scope="module")
def published() -> tuple[Stack, ...]:
    return load_stacks(adhoc=Path("/nonexistent/adhoc"))


def test_the_published_list_is_sorted_by_time(published: tuple[Stack, ...]) -> None:
    """The published stacks come oldest first, each with a tag of its own."""
    times = [s.time for s in published]
    assert times == sorted(times)
    assert len({s.tag for s in published}) == len(published) >= 46


def test_the_published_list_names_the_releases(published: tuple[Stack, ...]) -> None:
    """A FlashInfer stack is named after its release, post releases included."""
    pins = {s.tag: s.pins.get("flashinfer-python") for s in published}
    assert pins["v0.5.3"] == "0.5.3"
    assert pins["v0.6.7.post1"] == "0.6.7.post1"
    for tag, version in pins.items():
        assert version is None or tag == f"v{version}"


def test_flashinfer_stacks_hold_fa3_constant(published: tuple[Stack, ...]) -> None:
    """Every FlashInfer stack pins the one FA3 build for CUDA 13, so a step is FlashInfer's."""
    flashinfer = [s for s in published if "flashinfer-python" in s.pins]
    assert {s.pins["fa3-fwd"] for s in flashinfer} == {"0.0.3"}
    assert {s.cuda["fa3-fwd"] for s in flashinfer} == {"13"}


def test_older_fa3_stacks_say_that_they_need_cuda_12(published: tuple[Stack, ...]) -> None:
    """The FA3 releases that link to libcudart.so.12 carry that fact."""
    cuda = {s.tag: s.cuda.get("fa3-fwd") for s in published if list(s.pins) == ["fa3-fwd"]}
    assert cuda == {"fa3-fwd-0.0.1": "12", "fa3-fwd-0.0.2": "12", "fa3-fwd-0.0.3": "13"}


def test_a_known_wheel_has_its_published_hash(published: tuple[Stack, ...]) -> None:
    """The hash of FlashInfer 0.6.1 is the one of the file on the package index."""
    (only,) = find_stack("v0.6.1", published).wheels["flashinfer-python"]
    assert only.file == "flashinfer_python-0.6.1-py3-none-any.whl"
    assert only.sha256 == "610dd4ac15e7a0874b79e7577d027cb35133e8dc31dc3137c2f2d6497fe46f18"


def test_parsing_sorts_and_joins_releases() -> None:
    """Stacks are sorted by time in UTC and get the wheels and CUDA of their releases."""
    first, second = parse_stacks(LIST, "list")
    assert (first.tag, second.tag) == ("v1", "v2")
    assert first.time.isoformat() == "2026-01-01T00:00:00+00:00"
    assert first.cuda == {"lib": "12"}
    assert second.wheels["lib"][0].sha256 == "b" * 64


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('pins = {lib = "2"}', 'pins = {lib = "3"}', "lib==3, which has no release table"),
        ('tag = "v2"', 'tag = "v1"', "two stacks are called v1"),
        ('pins = {lib = "2"}', "pins = {}", "needs pins"),
        ("02-01T00:00:00Z", "02-01T00:00:00", "time zone"),
        ("b" * 64, "b" * 63, "needs wheels, each with its sha256"),
        ('cuda = "12"', "speed = 1", "unknown field"),
        ("[[stack]]", "[[stack", "malformed"),
        ('tag = "v2"', 'tag = "v..2"', "cannot name a stack"),
        ('pins = {lib = "2"}', "pins = " + "[" * 5000, "recursion"),
        ("2026-02-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "date value out of range"),
    ],
)
def test_a_malformed_list_is_one_line(old: str, new: str, complaint: str) -> None:
    """Whatever is wrong with a list, the error is one line that names the file and the fault."""
    with pytest.raises(UserError) as caught:
        parse_stacks(LIST.replace(old, new, 1), "the-list.toml")
    assert "the-list.toml is malformed" in str(caught.value)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value).strip()


def test_an_unknown_tag_names_near_matches() -> None:
    """A mistyped tag gets the tags that look like it."""
    with pytest.raises(UserError, match=r"no stack is called 'v0.6.01': did you mean v0.6.1"):
        find_stack("v0.6.01", (stack("v0.6.1"), stack("other")))


def test_an_adhoc_stack_is_found_but_cannot_hide_a_published_one(tmp_path: Path) -> None:
    """Ad-hoc stacks come after the published ones and may not take their tags."""
    published, adhoc = tmp_path / "stacks.toml", tmp_path / "adhoc"
    published.write_text(LIST)
    adhoc.mkdir()
    (adhoc / "a.toml").write_text(LIST.replace("v1", "mine1").replace("v2", "mine2"))
    stacks = load_stacks(published, adhoc)
    assert [s.tag for s in stacks] == ["v1", "v2", "mine1", "mine2"]
    assert [s.ad_hoc for s in stacks] == [False, False, True, True]
    (adhoc / "b.toml").write_text(LIST)
    with pytest.raises(UserError, match="v1, v2 is a published stack"):
        load_stacks(published, adhoc)


def test_the_digest_follows_pins_and_hashes_only() -> None:
    """Another tag or time keeps the digest; another hash or version changes it."""
    base = stack("v1")
    assert replace(base, tag="v9", cuda={"x": "13"}).digest == base.digest
    other_file = {"flashinfer-python": (wheel("flashinfer-python", "1", "b"),)}
    assert replace(base, wheels=other_file).digest != base.digest
    assert replace(base, pins={"flashinfer-python": "2"}).digest != base.digest


def test_requirements_carry_every_hash_and_local_paths() -> None:
    """Pins become `name==version` with hashes; a local wheel becomes a file address."""
    pins = {"lib": "1", "own": "2"}
    wheels = {
        "lib": (wheel("lib", "1", "b"), wheel("lib", "1", "a")),
        "own": (wheel("own", "2", "c", path="/wheels/own-2-py3-none-any.whl"),),
    }
    text = replace(stack("v1"), pins=pins, wheels=wheels).requirements()
    assert text == (
        f"lib==1 \\\n    --hash=sha256:{'a' * 64} \\\n    --hash=sha256:{'b' * 64}\n"
        f"own @ file:///wheels/own-2-py3-none-any.whl \\\n    --hash=sha256:{'c' * 64}\n"
    )


def test_expected_versions_are_the_pins() -> None:
    """What a process must have imported is exactly what the stack pins."""
    assert expected_versions(stack("v1")) == {"flashinfer-python": "1"}


@pytest.mark.parametrize("tag", ["", "main", "-x", "a..b", "a b", "x.lock", "a/b", "v1\n"])
def test_a_tag_must_be_fit_for_git_and_paths(tag: str) -> None:
    """Tags that git or a path would not take are refused."""
    with pytest.raises(UserError, match="cannot name a stack"):
        check_tag(tag)
