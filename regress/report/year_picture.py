"""The picture of a year: kernel time of a few telling cells over the releases, as SVG."""

import hashlib
from collections.abc import Sequence
from datetime import date
from importlib import import_module
from itertools import pairwise
from math import exp, log
from typing import Any, Final

import msgspec

from regress.model.year import Year, YearLine
from regress.report.drawing import as_svg, drawing

__all__ = ["render_year_picture", "year_fingerprint"]

# Okabe and Ito's colours: told apart with any colour vision; markers differ too.
_STYLES: Final = (
    ("#D55E00", "s"),
    ("#E69F00", "o"),
    ("#0072B2", "^"),
    ("#009E73", "D"),
    ("#CC79A7", "*"),
    ("#777777", "h"),
)
_GREY: Final = "#555555"
_US_TICKS: Final = (50, 100, 200, 500, 1000, 2000, 5000)
_MANY: Final = 12
"""More releases than that have their names written upwards."""
_APART: Final = 2
"""Releases between two names of months at least."""
_ROWS: Final = 16
"""How many lines of text fit beside the picture: labels are kept that far apart."""
_SMALL: Final = 1.25
"""Lines that never were slower than this over their fastest release show their small steps."""
_WIDTH: Final = 10.4
_HEIGHT: Final = 5.6


def year_fingerprint(year: Year) -> str:
    """Return a hash of everything that is drawn."""
    return hashlib.sha256(msgspec.json.encode(year)).hexdigest()


def render_year_picture(year: Year) -> str:
    """Return the picture; the same data and matplotlib give the same bytes.

    Raises
    ------
    UsageError
        If matplotlib is not installed.
    """
    settings, figure = drawing()
    with settings:
        canvas = figure.Figure(figsize=(_WIDTH, _HEIGHT), facecolor="white")
        times, steps = canvas.subplots(2, sharex=True, height_ratios=(2.1, 1))
        _draw_times(times, year)
        _draw_steps(steps, year)
        _name_releases(times, steps, year)
        _label(canvas, times, year)
        return as_svg(canvas, year_fingerprint(year))


def _draw_times(panel: Any, year: Year) -> None:
    _lines(panel, year, [[p.median_us for p in line.points] for line in year.lines])
    panel.set_yscale("log")
    shown = [p.median_us for line in year.lines for p in line.points] or [1.0]
    ticks = [us for us in _US_TICKS if min(shown) * 0.8 <= us <= max(shown) * 1.25]
    panel.set_yticks(ticks, [f"{us:,}" for us in ticks])
    panel.minorticks_off()
    panel.set_ylabel("kernel time, µs (log scale)")


def _draw_steps(panel: Any, year: Year) -> None:
    """Draw the lines of small changes again, in percent over their fastest release."""
    drawn: list[list[float]] = []
    for line in year.lines:
        best = min((p.median_us for p in line.points), default=1.0)
        over = [p.median_us / best for p in line.points]
        drawn.append([(r - 1) * 100 for r in over] if max(over, default=1.0) < _SMALL else [])
    _lines(panel, year, drawn)
    panel.set_ylim(bottom=-0.8)
    panel.yaxis.set_major_locator(import_module("matplotlib.ticker").MaxNLocator(5, integer=True))
    panel.yaxis.set_major_formatter("+{x:.0f} %")
    panel.set_ylabel("over its fastest")


def _lines(panel: Any, year: Year, values: Sequence[Sequence[float]]) -> None:
    tags = [release.tag for release in year.releases]
    for line, shown, (color, marker) in zip(year.lines, values, _STYLES, strict=False):
        places = [tags.index(point.tag) for point in line.points][: len(shown)]
        style = "-" if line.like_for_like else "--"
        panel.plot(places, shown, style, color=color, marker=marker, linewidth=1.5, markersize=4.5)
    panel.grid(axis="y", color="#dddddd", linewidth=0.6)
    panel.tick_params(length=0)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)


def _name_releases(times: Any, steps: Any, year: Year) -> None:
    """Write tags below both panels, and above them where a month begins."""
    many = len(year.releases) > _MANY
    upwards = {"rotation": 90, "size": 8} if many else {}
    steps.set_xticks(range(len(year.releases)), [r.tag for r in year.releases], **upwards)
    steps.set_xlim(-0.4, len(year.releases) - 0.6)
    days = [date.fromisoformat(release.day) for release in year.releases]
    named = -_APART
    for place, (before, now) in enumerate(pairwise([date.min, *days])):
        if (before.year, before.month) == (now.year, now.month):
            continue
        for panel in (times, steps):
            panel.axvline(place - 0.5, color="#e8e8e8", linewidth=0.6, zorder=0)
        if place - named < _APART:
            continue
        named = place
        times.annotate(
            f"{now:%Y}\n{now:%b}" if before.year != now.year else f"{now:%b}",
            (place - 0.42, 1.01),
            xycoords=("data", "axes fraction"),
            fontsize=8,
            color=_GREY,
        )


def _label(canvas: Any, panel: Any, year: Year) -> None:
    lines = [(line, *style) for line, style in zip(year.lines, _STYLES, strict=False)]
    lines = [told for told in lines if told[0].points]
    low, high = panel.get_ylim()
    places = _apart([line for line, _, _ in lines], log(high / low) / _ROWS)
    for (line, color, _), place in zip(lines, places, strict=True):
        star = "" if line.like_for_like else " *"
        panel.annotate(
            f"{line.label}{star}",
            (len(year.releases) - 1, place),
            xytext=(12, 0),
            textcoords="offset points",
            color=color,
            va="center",
            annotation_clip=False,
        )
    canvas.suptitle(
        "Attention kernels over FlashInfer's releases", x=0.075, ha="left", fontsize=12.5, y=0.985
    )
    counts = [point.rounds for line in year.lines for point in line.points]
    span = f"{min(counts)} to {max(counts)}" if len({*counts}) > 1 else f"{max(counts, default=0)}"
    canvas.text(
        0.075,
        0.015,
        f"{year.gpu}, cold L2; medians of {span} rounds a release. 262,144 KV tokens (8,192 in the "
        "long prefill); decode as engines serve it.\nBelow: lines that moved by less than a "
        "quarter. * is pinned to one version, as a control, and reads contiguous KV, the others "
        "paged KV: not like for like.",
        fontsize=8,
        color=_GREY,
    )
    bottom = 0.21 if len(year.releases) > _MANY else 0.15
    canvas.subplots_adjust(left=0.075, right=0.735, top=0.875, bottom=bottom, hspace=0.1)


def _apart(lines: Sequence[YearLine], gap: float) -> list[float]:
    """Return where the labels stand: at the end of each line, pushed down where two would meet."""
    ends = {n: log(line.points[-1].median_us) for n, line in enumerate(lines)}
    found: dict[int, float] = {}
    limit = float("inf")
    for n in sorted(ends, key=lambda n: -ends[n]):
        limit = found[n] = min(ends[n], limit - gap)
    return [exp(found[n]) for n in range(len(lines))]
