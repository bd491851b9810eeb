"""Stacks in order of their release."""

from regress.site.releases import releases_of
from regress.store.stacks import PublishedStack
from tests.regress.builders import CASE, make_round, measured

PINS = (("flashinfer-python", "1"), ("fa3-fwd", "3"))
OTHER = (("fa3-fwd", "1"),)


def _stack(tag: str, day: int, pins: tuple[tuple[str, str], ...] = PINS) -> PublishedStack:
    names = frozenset(name for name, _ in pins)
    return PublishedStack(tag, day, names, f"2026-01-{day:02d}T00:00:00+00:00", pins)


def test_the_release_before_is_measured_and_of_the_same_libraries() -> None:
    """Neither a release without rounds nor one of another library stands before another."""
    listed = [_stack("v1", 1), _stack("v2", 2), _stack("other", 3, OTHER), _stack("v3", 4)]
    rounds = {tag: [make_round(tag, 0, [measured(CASE, 10.0)])] for tag in ("v1", "other", "v3")}
    told = {release.tag: release.previous for release in releases_of(listed, rounds)}
    assert told == {"v1": None, "v2": "v1", "other": None, "v3": "v1"}


def test_an_adhoc_stack_is_shown_and_called_so() -> None:
    """A stack outside the list has the date of its first round."""
    rounds = {"mine": [make_round("mine", 0, [measured(CASE, 10.0)])]}
    (release,) = releases_of([], rounds)
    assert (release.published, release.day) == (False, "2026-01-01")


def test_pins_that_changed_are_named() -> None:
    """A library that only one of two stacks pins stands beside a dash."""
    older, newer = releases_of(
        [_stack("v1", 1, PINS), _stack("v2", 2, (("flashinfer-python", "2"),))], {}
    )
    assert newer.changed(older) == (("flashinfer-python", "1", "2"), ("fa3-fwd", "3", "-"))
