"""Moves of something that is known to lie within brackets."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from regress.detect.history.moves import moves_of
from regress.model.thresholds import Bracket

NOT_UP_TO_64, AT_66, AT_67 = Bracket(64, None), Bracket(65, 66), Bracket(66, 67)
WIDE = Bracket(32, 400)

places = st.integers(1, 40)
widths = st.tuples(st.integers(0, 5), st.integers(0, 5))


def _around(place: int, width: tuple[int, int]) -> Bracket:
    below, above = width
    return Bracket(place - 1 - below, place + above)


def test_a_move_by_one_is_seen_where_both_are_exact() -> None:
    """It is told by the releases on both of its sides."""
    assert [*moves_of([AT_66, AT_66, AT_67, AT_67])] == [(1, 2)]


def test_brackets_with_a_common_place_are_no_move() -> None:
    """However different they look: the threshold may be the same."""
    assert not [*moves_of([AT_66, WIDE, AT_66, Bracket(60, 66), NOT_UP_TO_64])]


def test_what_lies_between_may_belong_to_both() -> None:
    """A release that tells little, or nothing, does not hide the move around it."""
    assert [*moves_of([AT_66, WIDE, None, AT_67])] == [(0, 3)]


def test_there_and_back_are_two_moves() -> None:
    """Each is told once."""
    low = Bracket(None, 8)
    assert [*moves_of([AT_66, low, low, AT_66])] == [(0, 1), (2, 3)]


@given(place=places, wide=st.lists(widths, max_size=12))
def test_one_place_never_moves(place: int, wide: list[tuple[int, int]]) -> None:
    """Whatever is known of it."""
    assert not [*moves_of([_around(place, width) for width in wide])]


@given(known=st.lists(st.tuples(places, widths), max_size=12))
def test_never_more_moves_than_there_were(known: list[tuple[int, tuple[int, int]]]) -> None:
    """Brackets around true places show at most as many moves, each between different places."""
    true = [place for place, _ in known]
    found = [*moves_of([_around(*told) for told in known])]
    changes = sum(one != other for one, other in pairwise(true))
    assert len(found) <= changes
    assert all(true[before] != true[after] for before, after in found)
    assert all(a[1] <= b[0] for a, b in pairwise(found))
