"""The picture of a batch sweep."""

import sys

import msgspec
import pytest

from regress.errors import UsageError
from regress.model.sweep import BatchPoint, Curve, Sweep
from regress.report.picture import drawn_from, fingerprint, render_picture

SWEEP = Sweep(
    stack="v9",
    pins={"made-up": "1"},
    gpu="Synthetic GPU",
    cards=1,
    rounds=2,
    tokens=1024,
    percent=40,
    shape="1/1 heads",
    curves=tuple(
        Curve(name, (BatchPoint(8, 100.0, 101.0, 4), BatchPoint(16, 100.0, 900.0, 1)))
        for name in ("first", "second")
    ),
)


def test_fingerprint_follows_the_data() -> None:
    """Any figure that changes makes the picture stale."""
    faster = msgspec.structs.replace(SWEEP.curves[1].points[1], skewed_us=899.0)
    curve = msgspec.structs.replace(SWEEP.curves[1], points=(SWEEP.curves[1].points[0], faster))
    changed = msgspec.structs.replace(SWEEP, curves=(SWEEP.curves[0], curve))
    assert fingerprint(changed) != fingerprint(SWEEP)


def test_a_picture_says_what_it_was_drawn_from() -> None:
    """The same data give the same bytes, and the data's hash is in them."""
    pytest.importorskip("matplotlib")
    svg = render_picture(SWEEP)
    assert drawn_from(svg) == fingerprint(SWEEP)
    assert svg == render_picture(SWEEP)


def test_a_foreign_picture_has_no_fingerprint() -> None:
    """A file that was not drawn here counts as stale."""
    assert drawn_from("<svg/>") == ""


def test_drawing_without_matplotlib_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optional extra is named instead of a traceback."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install -e '\.\[plot\]'"):
        render_picture(SWEEP)
