"""Shapes of curves: synthetic ground truth, each shape present and absent."""

from collections.abc import Mapping

import pytest

from regress.detect.shape import detect_shapes
from regress.detect.shape_plateau import detect_plateau
from regress.model.line import Course, Curves, Extra, Line, Point, TimesUs, Varies
from regress.model.shape import ShapeFinding, ShapeKind
from tests.regress.builders import CONFIG
from tests.regress.detect.lines import AXIS
from workloads.backend import Mode

BATCHES = (8, 16, 32, 64, 128, 256, 512)


def times(us: float) -> TimesUs:
    """Six rounds that agree within 0.5 %."""
    return {"c1": tuple(us * (1 + 0.001 * n) for n in range(6))}


def course(varies: Varies, us: Mapping[int, float]) -> Curves:
    """One course with these times."""
    points = tuple((value, times(t)) for value, t in us.items())
    return Curves((Course(varies, "made-up", "fa3-varlen", Mode.EAGER, points),), ())


def only(head: Curves, base: Curves | None = None) -> ShapeFinding:
    """The one finding."""
    (found,) = detect_shapes(head, base, CONFIG.thresholds)
    return found


def test_a_straight_line_is_linear() -> None:
    """Slope and intercept come out in their units."""
    tokens = (32_768, 131_072, 262_144, 1_048_576)
    found = only(course(Varies.TOKENS, {t: 20 + 500e-6 * t for t in tokens}))
    assert (found.kind, found.notable) == (ShapeKind.LINEARITY, False)
    assert found.figures["slope_us_per_million_tokens"] == pytest.approx(500, rel=0.01)
    assert found.figures["intercept_us"] == pytest.approx(20, rel=0.02)


def test_a_bend_is_notable() -> None:
    """A size that takes 20 % more than its share is off the line."""
    us = {32_768: 36.0, 131_072: 86.0, 262_144: 190.0, 1_048_576: 544.0}
    assert only(course(Varies.TOKENS, us)).notable


def test_a_ripple_is_notable() -> None:
    """A batch that a larger one beats by 20 % is named."""
    found = only(course(Varies.BATCH, {b: 180.0 if b == 64 else 150.0 for b in BATCHES}))
    assert (found.kind, found.notable) == (ShapeKind.RIPPLE, True)
    assert found.figures["worst_batch"] == 64
    assert found.figures["worst"] == pytest.approx(1.2)


def plateau(us: Mapping[int, float]) -> list[ShapeFinding]:
    """What is said of a line whose batches from 66 on are not split."""
    points = tuple(Point(b, b < 66, times(100), times(t)) for b, t in us.items())
    return list(detect_plateau([Line(AXIS, points, ())], CONFIG.thresholds))


def test_a_bump_of_the_plateau_is_named() -> None:
    """One batch behind the threshold that takes 1.4 times as long as the others stands out."""
    (found,) = plateau({64: 300, 66: 1000, 128: 1001, 256: 1400, 512: 1002, 1024: 1000})
    assert (found.kind, found.notable) == (ShapeKind.PLATEAU, True)
    assert (found.figures["worst_batch"], found.figures["bumps"]) == (256, 1)
    assert found.figures["worst"] == pytest.approx(1.4, rel=0.01)
    assert found.message.endswith("above 1.05x at batch 256")


def test_a_flat_plateau_has_no_bump() -> None:
    """What is split is no part of it, and with fewer than four sizes nothing is said."""
    (found,) = plateau({32: 2000, 66: 1000, 128: 1001, 256: 1004, 512: 1002})
    assert not found.notable
    assert plateau({32: 2000, 66: 1000, 128: 1001, 256: 1004}) == []


def test_a_rising_curve_does_not_ripple() -> None:
    """Time that only grows with the batch is no ripple."""
    assert not only(course(Varies.BATCH, {b: 100.0 + b for b in BATCHES})).notable


def test_drift_along_a_line_is_notable() -> None:
    """Head that loses 1 % with every doubling drifts; one that is 5 % slower throughout does not.

    The ripple detector speaks of the same course and is left aside.
    """
    flat = course(Varies.BATCH, dict.fromkeys(BATCHES, 100.0))
    drifting = course(Varies.BATCH, {b: 100.0 * 1.01**n for n, b in enumerate(BATCHES)})
    slower = course(Varies.BATCH, dict.fromkeys(BATCHES, 105.0))
    said = {
        name: next(
            f for f in detect_shapes(head, flat, CONFIG.thresholds) if f.kind is ShapeKind.DRIFT
        )
        for name, head in (("drifting", drifting), ("slower", slower))
    }
    assert said["drifting"].notable
    assert said["drifting"].figures["growth"] == pytest.approx(0.0615, abs=1e-3)
    assert not said["slower"].notable


def test_drift_needs_a_base() -> None:
    """One stack alone cannot drift."""
    head = course(Varies.BATCH, dict.fromkeys(BATCHES, 100.0))
    assert {f.kind for f in detect_shapes(head, None, CONFIG.thresholds)} == {ShapeKind.RIPPLE}


def test_the_cost_of_a_step_is_told() -> None:
    """Median and highest cost over the workloads of a pair of backends."""
    extras = tuple(
        Extra("merge", f"w{n}", 64, "with", Mode.EAGER, "without", times(100.0), times(us))
        for n, us in enumerate((101.0, 102.0, 120.0))
    )
    found = only(Curves((), extras))
    assert (found.kind, found.notable) == (ShapeKind.MERGE, True)
    assert found.figures["median_us"] == pytest.approx(2.0, abs=0.1)
    assert found.figures["highest_ratio"] == pytest.approx(1.2)


def test_a_peak_of_throughput_is_found() -> None:
    """Time that grows faster than the batch makes throughput fall."""
    us = {16: 50.0, 32: 80.0, 64: 150.0, 128: 280.0, 256: 700.0}
    found = only(course(Varies.REQUESTS, us))
    assert (found.notable, found.figures["peak_batch"]) == (True, 128)


def test_rising_throughput_has_no_peak() -> None:
    """The largest batch is the fastest one."""
    found = only(course(Varies.REQUESTS, {b: 40.0 + b for b in BATCHES}))
    assert not found.notable
    assert found.message.startswith("no peak")
