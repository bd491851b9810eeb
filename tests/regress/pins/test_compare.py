"""What changed between the pins of two commits."""

import pytest

from regress.pins.compare import Compared, compare, moved
from regress.pins.files import parse_pins

Texts = dict[str, str]


def compared(base: Texts, head: Texts) -> Compared:
    """Compare files given as text; text is requirements unless the name says otherwise."""
    before, after = ({f: parse_pins(t, f, ()) for f, t in side.items()} for side in (base, head))
    return compare(before, after)


def one(base: str, head: str) -> Compared:
    return compared({"r.txt": base}, {"r.txt": head})


def test_upgrade_with_company() -> None:
    """A library that changed is compared together with those that stay."""
    found = one(
        "flashinfer-python==0.6.0\nfa3-fwd==0.0.3", "flashinfer-python==0.6.1\nfa3-fwd==0.0.3"
    )
    assert found.stop is None
    assert [(c.library, c.base, c.head, c.direction) for c in found.changes] == [
        ("flashinfer-python", "0.6.0", "0.6.1", "upgrade")
    ]
    assert found.base_pins == ("flashinfer-python==0.6.0", "fa3-fwd==0.0.3")
    assert found.head_pins == ("flashinfer-python==0.6.1", "fa3-fwd==0.0.3")


def test_two_libraries_and_a_downgrade() -> None:
    """Several libraries may move at once, and either way; versions are ordered, not text."""
    found = one(
        "flashinfer-python==0.10.0\nfa3-fwd==0.0.2", "flashinfer-python==0.9.0\nfa3-fwd==0.0.3"
    )
    assert [c.direction for c in found.changes] == ["downgrade", "upgrade"]


@pytest.mark.parametrize(
    ("base", "head", "code"),
    [
        ("fa3-fwd==0.0.3", "fa3-fwd==0.0.3.0", "unchanged"),
        ("torch==1", "torch==2", "unchanged"),
        ("fa3-fwd>=0.0.2", "fa3-fwd>=0.0.3", "inexact"),
        ("fa3-fwd==0.0.2", "fa3-fwd>=0.0.2", "inexact"),
        ("fa3-fwd==0.0.2", "fa3-fwd @ https://x/y.whl", "inexact"),
        ("", "fa3-fwd==0.0.3", "one-sided"),
        ("fa3-fwd==0.0.3", "", "one-sided"),
        ("fa3-fwd==0.0.2", "fa3-fwd==zzz", "bad-version"),
        ("fa3-fwd==0.0.2", "fa3-fwd==0.0.3\nfa3-fwd==0.0.4", "conflict"),
        ("fa3-fwd==0.0.2\nfa3-fwd==0.0.1", "fa3-fwd==0.0.3", "conflict"),
    ],
)
def test_nothing_to_measure(base: str, head: str, code: str) -> None:
    """Where no two exact versions stand against each other, the reason is said."""
    found = one(base, head)
    assert found.stop is not None
    assert found.stop.code == code


def test_head_of_a_range_is_named() -> None:
    """A range beside a library that is gated is said."""
    found = one("fa3-fwd==0.0.2\nflash-attn==2.7", "fa3-fwd==0.0.3\nflash-attn>=2.8")
    assert found.stop is None
    assert found.notes == ("r.txt: flash-attn>=2.8 is no exact pin and cannot be gated",)
    assert found.head_pins == ("fa3-fwd==0.0.3",)


def test_range_beside_a_lock() -> None:
    """A range is no trouble where a lock file pins the library."""
    lock = '[[package]]\nname = "fa3-fwd"\nversion = "{}"'
    base = {"requirements.txt": "fa3-fwd>=0.0.1", "uv.lock": lock.format("0.0.2")}
    head = {"requirements.txt": "fa3-fwd>=0.0.2", "uv.lock": lock.format("0.0.3")}
    found = compared(base, head)
    assert (found.stop, found.notes) == (None, ())
    assert found.changes[0].files == ("uv.lock",)


def test_source_beside_an_exact_pin() -> None:
    """A library that is newly taken from elsewhere is said, although a pin beside it stays."""
    pins = {"r.txt": "fa3-fwd==0.0.3"}
    lock = '[[package]]\nname = "fa3-fwd"\nversion = "0.0.3"\n'
    moved_away = f'{lock}source = {{git = "https://x"}}\n'
    found = compared({**pins, "uv.lock": lock}, {**pins, "uv.lock": moved_away})
    assert found.stop is not None
    assert found.stop.code == "inexact"
    assert found.notes[0].startswith("uv.lock: fa3-fwd from {'git'")
    url = {"s.txt": "fa3-fwd @ https://x/y.whl"}
    assert compared(pins, {"r.txt": "fa3-fwd==0.0.4", **url}).notes
    assert not compared({**pins, **url}, {"r.txt": "fa3-fwd==0.0.4", **url}).notes


def test_moving_a_pin_changes_nothing() -> None:
    """A file that is renamed, or a pin that goes to another one, is no change."""
    base, head = {"a.txt": "fa3-fwd==0.0.3"}, {"b.txt": "fa3-fwd==0.0.3"}
    found = compared(base, head)
    assert found.stop is not None
    assert found.stop.code == "unchanged"
    assert not moved({}, {})


def test_old_trouble_is_not_the_pull_requests() -> None:
    """What was wrong or ambiguous before and is not touched stops nothing."""
    old = "flash-attn==main\n"
    twice = {"a.txt": "fa3-fwd==0.0.1", "b.txt": "fa3-fwd==0.0.2"}
    found = compared(
        {**twice, "r.txt": f"{old}flashinfer-python==0.6.0"},
        {**twice, "r.txt": f"{old}flashinfer-python==0.6.1"},
    )
    assert found.stop is None
    assert found.head_pins == ("flashinfer-python==0.6.1",)
